// Runs a program to its end, on the virtual clock or on a real one, and says which laws it broke.
import { NodeRuntime } from "../../src/node/runtime.ts";
import { VirtualRuntime } from "../../src/testing/virtual-runtime.ts";
import type { Breach } from "./checker.ts";
import type { GuardSpec, Program } from "./program.ts";
import { type Agenda, Planned, World } from "./world.ts";

/** How a run ended. */
export interface Verdict {
  readonly breach: Breach | null;
  /** Its events, one in a line. */
  readonly log: readonly string[];
  readonly calls: number;
}

const STEPS = 20_000;
/** Longer than any open time, lease or backoff of a program. */
const LATER_MS = 100_000;

interface Item {
  readonly at: number;
  readonly order: number;
  does(): void;
}

/** Where the outside world's doings wait, beside the virtual clock. */
class VirtualAgenda implements Agenda {
  readonly #runtime: VirtualRuntime;
  readonly #items: Item[] = [];
  #order = 0;

  constructor(runtime: VirtualRuntime) {
    this.#runtime = runtime;
  }

  get nextAt(): number {
    return this.#items[0]?.at ?? Infinity;
  }

  at(delayMs: number, does: () => void): void {
    const item = { at: this.#runtime.now() + delayMs, order: this.#order++, does };
    let index = this.#items.length;
    while (index > 0 && (this.#items[index - 1] as Item).at > item.at) index--;
    this.#items.splice(index, 0, item);
  }

  run(): void {
    this.#items.shift()?.does();
  }
}

class FuzzRuntime extends VirtualRuntime {
  readonly surfaced: unknown[] = [];

  override uncaught(error: unknown): void {
    this.surfaced.push(error);
  }
}

class RealRuntime extends NodeRuntime {
  readonly surfaced: unknown[] = [];

  override uncaught(error: unknown): void {
    this.surfaced.push(error);
  }
}

/** A callback may throw what it likes; anything else was thrown by the kernel. */
function checkThrown(world: World, thrown: unknown[]): void {
  for (const error of thrown.splice(0)) {
    if (!(error instanceof Planned))
      world.checker.fail("4", `the kernel threw ${(error as Error).stack ?? error}`);
  }
}

/** Gives up what never ends, then ends it. */
function drain(world: World): void {
  for (const call of world.calls) if (call.started && call.answers.length === 0) world.cancel(call);
  for (const run of [...world.live]) {
    world.works.end(run);
    world.works.close(run);
  }
}

/** On the virtual clock, step by step, with a look at everything after each. */
export function runVirtual(program: Program, generators: boolean): Verdict {
  const runtime = new FuzzRuntime({ seed: program.seed });
  const agenda = new VirtualAgenda(runtime);
  const world = new World(program, runtime, agenda, { generators, exact: true });
  const { checker } = world;

  const settle = (): void => {
    for (let steps = 0; checker.breaches.length === 0; steps++) {
      const [ours, theirs] = [agenda.nextAt, runtime.nextAt];
      if (ours === Infinity && theirs === Infinity) return;
      if (steps > STEPS) checker.fail("6", "never comes to rest");
      const together = ours === theirs && ours <= runtime.now() && world.random.next() < 0.5;
      if (ours < theirs || together) {
        if (ours > runtime.now()) runtime.advanceTo(ours);
        agenda.run();
      } else runtime.step();
      checkThrown(world, runtime.surfaced);
      checker.look();
    }
  };

  try {
    world.begin();
    settle();
    if (checker.breaches.length === 0) checker.atRest();
    // What ends may start calls that never end either.
    do {
      drain(world);
      checkThrown(world, runtime.surfaced);
      settle();
    } while (world.live.size > 0 && checker.breaches.length === 0);
    if (runtime.pending > 0) checker.fail("6", `${runtime.pending} timers are left`);
    checker.atEnd(LATER_MS);
  } catch (error) {
    checker.fail("4", `the kernel threw ${(error as Error).stack ?? error}`);
  }
  return verdict(world);
}

/** On Node's clock: outcomes and laws only, since nobody knows what a real clock shows. */
export async function runReal(program: Program): Promise<Verdict> {
  const runtime = new RealRuntime({ seed: program.seed });
  let waiting = 0;
  const agenda: Agenda = {
    at: (delayMs, does) => {
      waiting++;
      setTimeout(() => {
        waiting--;
        try {
          does();
        } catch (error) {
          runtime.surfaced.push(error);
        }
        checkThrown(world, runtime.surfaced);
        world.checker.look();
      }, delayMs);
    },
  };
  const world = new World(program, runtime, agenda, { generators: false, exact: false });
  const settle = async (): Promise<void> => {
    while ((waiting > 0 || runtime.pending > 0) && world.checker.breaches.length === 0)
      await new Promise((resolve) => setTimeout(resolve, 1));
  };
  world.begin();
  await settle();
  if (world.checker.breaches.length === 0) world.checker.atRest();
  do {
    drain(world);
    await settle();
  } while (world.live.size > 0 && world.checker.breaches.length === 0);
  checkThrown(world, runtime.surfaced);
  if (world.checker.breaches.length === 0) world.checker.atEnd(LATER_MS);
  return verdict(world);
}

function verdict(world: World): Verdict {
  const calls = world.calls.filter((call) => call.started).length;
  return { breach: world.checker.breaches[0] ?? null, log: world.log, calls };
}

/** Both ways to drive it: each must keep the laws, and both must tell the same, byte for byte. */
export function runBoth(program: Program): Verdict {
  const fused = runVirtual(program, false);
  if (fused.breach !== null) return fused;
  const generated = runVirtual(program, true);
  if (generated.breach !== null) {
    const { law, message } = generated.breach;
    return { ...generated, breach: { law, message: `by generators: ${message}` } };
  }
  const breach = difference("parity", "the drivers differ", fused, generated) ?? undisturbed(program, fused);
  return { ...fused, breach };
}

/** One program in so many is run once more, with a guard more. */
const GUARDED_ANEW = 8;

/** Law 7: a guard that refuses nothing changes nothing, neither what others decide nor what they draw. */
function undisturbed(program: Program, before: Verdict): Breach | null {
  if (program.seed % GUARDED_ANEW !== 0) return null;
  const bystander: GuardSpec = { kind: "throttle", k: 1, windowMs: 60, maxRefused: 0, rejects: "failures" };
  const stacks = program.stacks.map((stack) => {
    const timeouts = stack.guards.filter(({ kind }) => kind === "timeout");
    const others = stack.guards.filter(({ kind }) => kind !== "timeout");
    return { ...stack, guards: [...others, bystander, ...timeouts] };
  });
  const after = runVirtual({ ...program, stacks }, false);
  return after.breach ?? difference("7", "a guard that refuses nothing changes", before, after);
}

/** Where two logs part. */
function difference(law: string, what: string, one: Verdict, other: Verdict): Breach | null {
  const at = one.log.findIndex((line, index) => line !== other.log[index]);
  if (at < 0 && one.log.length === other.log.length) return null;
  const line = at >= 0 ? at : one.log.length;
  return { law, message: `${what} in line ${line}: ${one.log[line]} and ${other.log[line]}` };
}
