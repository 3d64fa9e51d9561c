/** The body of a reply that is thrown away: read if it is short, so that its socket can be used again; else dropped. */
import type { Runtime } from "../../core/runtime.ts";

/** Bounds on what is read of a failed reply. */
export interface ErrorBodyLimits {
  readonly bytes: number;
  readonly ms: number;
}

/** Reads a body to its end and returns its text, or gives it up at a limit and returns what there was. */
export async function readShort(
  response: Response,
  limits: ErrorBodyLimits,
  runtime: Runtime,
): Promise<string> {
  const { body } = response;
  // Whoever sent it may have read it already, or given a stub without a stream.
  if (typeof body?.getReader !== "function" || body.locked) return "";
  const reader = body.getReader();
  const giveUp = (): Promise<void> => reader.cancel().catch(() => {});
  if (Number(response.headers.get("content-length")) > limits.bytes) {
    await giveUp();
    return "";
  }
  const timer = runtime.after(limits.ms, () => void giveUp());
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const bytes = part.value as Uint8Array;
      text += decoder.decode(bytes.subarray(0, limits.bytes - size), { stream: true });
      size += bytes.byteLength;
      if (size > limits.bytes) {
        await giveUp();
        break;
      }
    }
  } catch {
    // The status says what is to be known; a body that breaks off says no more.
  }
  runtime.cancel(timer);
  return text;
}
