/**
 * Faults around a function that does real work: one that an operation runs, a `fetch`, a client's method. It waits on the
 * clock of the attempt among its arguments, and draws from that runtime's chance; without one, from the process's own.
 */
import { Attempt } from "../../core/attempt.ts";
import type { Runtime } from "../../core/runtime.ts";
import { type Fault, type FaultKind, FaultPlan, type FaultPlanOptions } from "../../testing/fault-plan.ts";
import { nodeRuntime } from "../runtime.ts";
import { pause } from "./pause.ts";

/** Options of `faults`. */
export interface FaultOptions extends FaultPlanOptions {
  /** Clock and chance where no attempt is among the arguments. Default: the process's own. */
  readonly runtime?: Runtime;
}

/** A function with faults around it. */
export interface Faulty<A extends unknown[], T> {
  (...args: A): Promise<T>;
  /** How often each fault was injected. */
  readonly injected: Readonly<Record<FaultKind, number>>;
}

/** The same function, with faults. Throws an `OptionError` that names the field for a wrong option. */
export function faults<A extends unknown[], T>(
  work: (...args: A) => T | PromiseLike<T>,
  options: FaultOptions,
): Faulty<A, T> {
  const { runtime, ...rest } = options;
  const plan = new FaultPlan(rest);
  const injected: Record<FaultKind, number> = { latency: 0, error: 0, abort: 0, lostReply: 0 };
  const faulty = async (...args: A): Promise<T> => {
    const attempt = args.find((argument): argument is Attempt & A[number] => argument instanceof Attempt);
    const world = attempt?.runtime ?? runtime ?? nodeRuntime;
    const fault = plan.next(world.random);
    const start = async (): Promise<T> => work(...args);
    if (fault === null) return await start();
    injected[fault.fault]++;
    return await suffer(fault, start, { runtime: world, signal: signalIn(args), attempt });
  };
  return Object.assign(faulty, { injected });
}

interface Place {
  readonly runtime: Runtime;
  readonly signal: AbortSignal | undefined;
  readonly attempt: Attempt | undefined;
}

async function suffer<T>(fault: Fault, start: () => Promise<T>, place: Place): Promise<T> {
  const { runtime, signal, attempt } = place;
  if (fault.fault === "latency") {
    await pause(runtime, fault.ms, signal);
    return await start();
  }
  if (fault.fault === "error") throw errorOf(fault, "ECONNREFUSED");
  // The work holds its place for as long as it runs, whatever is answered meanwhile.
  const release = attempt?.hold();
  const unheard = start()
    .then(discard, () => {})
    .finally(release);
  if (fault.fault === "abort") await pause(runtime, fault.ms, signal);
  else {
    await unheard;
    if (fault.hangs === true) await pause(runtime, Infinity, signal);
  }
  throw errorOf(fault, "ECONNRESET");
}

/** An answer that nobody hears: its body, if it has one, would hold a socket. Not every reply is the platform's. */
async function discard(answer: unknown): Promise<void> {
  const { body } = Object(answer) as Partial<Response>;
  if (typeof body?.getReader === "function") await body.cancel().catch(() => {});
}

function errorOf(fault: { readonly error?: unknown }, code: string): unknown {
  return "error" in fault ? fault.error : Object.assign(new Error(`injected fault (${code})`), { code });
}

/** The signal that ends the work: the attempt's, or that of `fetch`'s options. */
function signalIn(args: readonly unknown[]): AbortSignal | undefined {
  for (const argument of args) {
    const signal = (argument as { readonly signal?: unknown } | null | undefined)?.signal;
    if (signal instanceof AbortSignal) return signal;
  }
  return undefined;
}
