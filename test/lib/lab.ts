// A stack of guards on a virtual clock, with work that the test scripts.
import {
  type Attempt,
  Call,
  type CallFields,
  type CallProcess,
  type ClassifiedError,
  type Exit,
  FAILURE,
  type FailureClass,
  failed,
  type Guard,
  type Judge,
  PLAIN_CALL,
  type PlimsollEvent,
  type RetryBudget,
  Stack,
} from "../../src/core/index.ts";
import { VirtualRuntime } from "../../src/testing/index.ts";

/** What a test makes of one attempt. */
export type Script = (attempt: Attempt) => void;

/** A call of which nothing is known but its deadline and whether it may be repeated. */
export function callOf(deadline = Infinity, idempotent = true, fields: CallFields = PLAIN_CALL): Call {
  return new Call({ dependency: "stock", operation: "view", idempotent }, fields, deadline, 0);
}

/** An error that says what it means, as an adapter's does. */
export function fault(failureClass: FailureClass, more: Parameters<typeof failed>[2] = {}): Error {
  const { class: itsClass, effect, pushback, ended } = failed(null, failureClass, more);
  const meaning: ClassifiedError[typeof FAILURE] = { class: itsClass, effect, pushback, ended };
  return Object.assign(new Error(`${failureClass} fault`), { [FAILURE]: meaning });
}

/** A call that a test has started. */
export interface Started {
  readonly process: CallProcess;
  /** Every answer that was delivered: one, in the end. */
  readonly answers: readonly Exit[];
  /** When it was answered, or −1. */
  readonly answeredAt: number;
  /** Its attempts that were sent. */
  readonly sent: readonly Attempt[];
}

/** A virtual world with one listener. */
export class Lab {
  readonly runtime: VirtualRuntime;
  readonly events: PlimsollEvent[] = [];

  constructor(seed = 1) {
    this.runtime = new VirtualRuntime({ seed });
    this.runtime.sink = (event) => this.events.push(event);
  }

  /** The types of the events so far, in order. */
  get log(): string[] {
    return this.events.map((event) => event.type);
  }

  stack(
    guards: readonly Guard[],
    more: {
      idempotent?: boolean;
      budget?: RetryBudget;
      minUsefulMs?: number;
      generators?: boolean;
      judge?: Judge;
      perform?: (attempt: Attempt, work: unknown) => void;
    } = {},
  ): Stack {
    return new Stack(
      {
        runtime: this.runtime,
        dependency: "stock",
        operation: "view",
        idempotent: true,
        perform: (attempt, work) => (work as Script)(attempt),
        ...more,
      },
      guards,
    );
  }

  /** Starts a call whose n-th attempt does what the n-th script says; the last one says it for all that follow. */
  start(
    stack: Pick<Stack, "start">,
    script: Script | readonly Script[],
    { withinMs = Infinity, fields = PLAIN_CALL }: { withinMs?: number; fields?: CallFields } = {},
  ): Started {
    const scripts = typeof script === "function" ? [script] : script;
    const sent: Attempt[] = [];
    const answers: Exit[] = [];
    let answeredAt = -1;
    const work: Script = (attempt) => {
      sent.push(attempt);
      (scripts[sent.length - 1] ?? (scripts.at(-1) as Script))(attempt);
    };
    const answered = (exit: Exit): void => {
      answers.push(exit);
      answeredAt = this.runtime.now();
    };
    const process = stack.start(work, fields, this.runtime.now() + withinMs, { answered });
    return {
      process,
      answers,
      sent,
      get answeredAt() {
        return answeredAt;
      },
    };
  }

  /** Succeeds with `value`, after `ms` or at once. */
  gives(value: unknown, ms?: number): Script {
    return (attempt) => this.#later(ms, () => attempt.succeed(value));
  }

  /** Fails with `error`, after `ms` or at once. */
  throws(error: unknown, ms?: number): Script {
    return (attempt) => this.#later(ms, () => attempt.fail(error));
  }

  /** Never ends, whatever its signal says. */
  readonly hangs: Script = () => {};

  #later(ms: number | undefined, end: () => void): void {
    if (ms === undefined) end();
    else this.runtime.after(ms, end);
  }
}

/** The exit, narrowed to what the test expects, or a failed expectation. */
export function only<K extends Exit["kind"]>(started: Started, kind: K): Extract<Exit, { kind: K }> {
  const [exit, ...more] = started.answers;
  if (exit === undefined || more.length > 0 || exit.kind !== kind) {
    throw new Error(`expected one ${kind}, got ${JSON.stringify(started.answers)}`);
  }
  return exit as Extract<Exit, { kind: K }>;
}
