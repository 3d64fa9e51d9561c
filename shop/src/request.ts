/**
 * The apps' requests, on bare `node:http`: the load generator should cost as little as it can beside what it loads.
 * (shop-api's calls to stock go through `plimsoll/fetch`.) It says what a failure means in the way that any adapter
 * does, by the mark `FAILURE`.
 */
import { Agent, type IncomingMessage, request } from "node:http";
import { type Attempt, type ClassifiedError, FAILURE } from "plimsoll";

const agent = new Agent({ keepAlive: true, maxSockets: Infinity, timeout: 30_000 });

/** A reply that is no answer. */
class Unavailable extends Error implements ClassifiedError {
  readonly [FAILURE]: ClassifiedError[typeof FAILURE];

  constructor(status: number, final: boolean) {
    super(`shop-api answered ${status}`);
    const effect = status === 503 ? "none" : "unknown";
    const pushback = final ? ("never" as const) : undefined;
    this[FAILURE] = { class: status === 503 ? "throttling" : "transient", effect, pushback };
  }
}

/**
 * Posts nothing to `url` for an attempt, and reads the JSON that comes back. The callee is told the time left, less
 * a margin. Ends with its socket when given up.
 */
export function post(
  url: URL,
  attempt: Attempt,
  headers: Record<string, string>,
  marginMs: number,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const left = Math.floor(attempt.timeLeftMs - marginMs);
    const timed = { ...headers, "x-envoy-expected-rq-timeout-ms": String(Math.max(1, left)) };
    const sent = request(url, { method: "POST", agent, headers: timed }, (reply) => {
      read(reply).then((text) => {
        if (reply.statusCode === 200) return resolve(JSON.parse(text));
        reject(new Unavailable(reply.statusCode ?? 0, reply.headers["x-envoy-overloaded"] === "true"));
      }, reject);
    });
    sent.on("error", reject);
    attempt.onAbort((reason) => sent.destroy(reason as Error));
    sent.end();
  });
}

function read(reply: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    reply.setEncoding("utf8");
    reply.on("data", (chunk: string) => {
      text += chunk;
    });
    reply.on("end", () => resolve(text));
    reply.on("error", reject);
  });
}
