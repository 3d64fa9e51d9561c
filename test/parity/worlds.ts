// One scenario, three worlds: the core's driver alone, the promise shell on a virtual clock, and on a real one.
import {
  type Attempt,
  type DependencyOptions,
  DependencyPolicy,
  type Exit,
  type OperationOptions,
  PLAIN_CALL,
  type Runtime,
} from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { NodeRuntime } from "../../src/node/runtime.ts";
import { VirtualRuntime } from "../../src/testing/index.ts";

/** What an attempt does, given the world's own way to wait. */
export type Act = (attempt: Attempt, world: World) => Promise<unknown> | unknown;

/** What a scenario sees of its world. */
export interface World {
  /** Makes a call whose n-th attempt does what the n-th act says; the last one says it for all that follow. */
  call(acts: Act | readonly Act[], options?: { cancel?: Promise<unknown> }): Promise<Exit>;
  sleep(ms: number): Promise<void>;
  /** Never settles. */
  forever(): Promise<never>;
}

/** A scenario: what its guards are, and what is done. It gives what its calls came to, in a fixed order. */
export interface Scenario {
  readonly dependency?: Omit<DependencyOptions, "name">;
  readonly operation: OperationOptions;
  run(world: World): Promise<readonly Exit[]>;
}

/** What a scenario came to, in words, and what was told on the way. */
export interface Story {
  readonly outcomes: readonly string[];
  readonly log: readonly string[];
}

const inTurn = (acts: Act | readonly Act[]): ((attempt: Attempt, world: World) => unknown) => {
  const list = typeof acts === "function" ? [acts] : acts;
  let made = 0;
  return (attempt, world) => (list[made++] ?? (list.at(-1) as Act))(attempt, world);
};

/** An outcome without what differs by nature: the time that a hint is counted from, and the frames of an error. */
function wordsOf(exit: Exit): string {
  if (exit.kind === "ok") {
    const from = exit.degradedBy;
    return `ok ${exit.value}${from === undefined ? "" : `, degraded by ${from === "callee" ? from : from.kind}`}`;
  }
  if (exit.kind === "rejected") return `rejected by ${exit.by}: ${exit.reason}`;
  if (exit.kind === "cancelled") return `cancelled: ${exit.reason}`;
  const stopped =
    exit.stoppedBy === undefined ? "" : `, stopped by ${exit.stoppedBy.by}: ${exit.stoppedBy.reason}`;
  return `failed ${exit.class} ${exit.ended ?? ""}${(exit.error as Error).name}${stopped}`;
}

const sleeping = (runtime: Runtime) => (ms: number) =>
  new Promise<void>((resolve) => runtime.after(ms, resolve));
const forever = (): Promise<never> => new Promise<never>(() => {});

/** The core alone: calls are started on its driver, and their exits are taken as they are. */
function coreWorld(scenario: Scenario, runtime: Runtime, generators: boolean): World {
  const perform = (attempt: Attempt, work: unknown): void => {
    const result = (work as (attempt: Attempt) => unknown)(attempt);
    if (result instanceof Promise)
      result.then(
        (value) => attempt.succeed(value),
        (error) => attempt.fail(error),
      );
    else attempt.succeed(result);
  };
  const policy = new DependencyPolicy({ name: "stock", ...scenario.dependency }, runtime, perform);
  const operation = policy.operation("view", scenario.operation, generators);
  const world: World = {
    call: (acts, { cancel } = {}) =>
      new Promise((resolve) => {
        const act = inTurn(acts);
        const work = (attempt: Attempt): unknown => act(attempt, world);
        const started = operation.start(work, PLAIN_CALL, Infinity, { answered: resolve });
        if ("cancel" in started) cancel?.then((reason) => started.cancel(reason));
        else resolve(started);
      }),
    sleep: sleeping(runtime),
    forever,
  };
  return world;
}

/** The promise shell: what it rejects with is read back into an exit. */
function shellWorld(scenario: Scenario, runtime: Runtime): World {
  const view = dependency({ name: "stock", ...scenario.dependency }, runtime).operation(
    "view",
    scenario.operation,
  );
  const world: World = {
    call: (acts, { cancel } = {}) => {
      const act = inTurn(acts);
      const controller = new AbortController();
      cancel?.then((reason) => controller.abort(reason));
      const options = cancel === undefined ? undefined : { signal: controller.signal };
      return view
        .outcome((attempt) => act(attempt, world) as Promise<unknown>, options)
        .catch((reason: unknown) => ({ kind: "cancelled", reason }) as const);
    },
    sleep: sleeping(runtime),
    forever,
  };
  return world;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Moves the virtual clock from timer to timer, and lets promises settle in between, until the scenario is over. */
async function played(scenario: Scenario, runtime: VirtualRuntime, world: World): Promise<Story> {
  const log: string[] = [];
  runtime.sink = (event) => log.push(JSON.stringify(event));
  let exits: readonly Exit[] | null = null;
  const running = scenario.run(world).then((result) => {
    exits = result;
  });
  for (await turn(); exits === null; await turn()) runtime.step();
  await running;
  return { outcomes: (exits as readonly Exit[]).map(wordsOf), log };
}

/** Through the core's driver, on the fused path or by generators. */
export function byCore(scenario: Scenario, generators: boolean): Promise<Story> {
  const runtime = new VirtualRuntime({ seed: 7 });
  return played(scenario, runtime, coreWorld(scenario, runtime, generators));
}

/** Through the promise shell on the virtual clock. */
export function byShell(scenario: Scenario): Promise<Story> {
  const runtime = new VirtualRuntime({ seed: 7 });
  return played(scenario, runtime, shellWorld(scenario, runtime));
}

/** Through the promise shell on Node's clock. */
export async function byNode(scenario: Scenario): Promise<readonly string[]> {
  const runtime = new NodeRuntime({ seed: 7 });
  return (await scenario.run(shellWorld(scenario, runtime))).map(wordsOf);
}
