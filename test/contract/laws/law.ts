// The part of the checker that minds one guard: hears what works, answers and events say, and looks at gauges.
import type { Admission, Asking, Exit, PlimsollEvent, Rejected } from "../../../src/core/index.ts";
import type { AdmitterSpec } from "../program.ts";
import { type CallRun, FlightRun, type Sender, type WorkRun } from "../records.ts";
import type { Shape } from "../shape.ts";
import type { World } from "../world.ts";

/** What all parts see. */
export interface Scene {
  readonly world: World;
  readonly shapes: readonly Shape[];
  /** Whether the clock stands still between two steps, so that every time can be told exactly. */
  readonly exact: boolean;
  fail(law: string, message: string): void;
}

/** What an ending is to a breaker, as the design says it; on purpose not read from the table of the core. */
export const FAILURES: ReadonlySet<string> = new Set(["transient", "throttled", "timeout", "unsent"]);
export const SUCCESSES: ReadonlySet<string> = new Set(["ok", "degraded", "permanent"]);

/** Minds one guard. Each method is called as its name says; mostly they do nothing. */
export abstract class Law {
  protected readonly scene: Scene;
  protected readonly world: World;

  constructor(scene: Scene) {
    this.scene = scene;
    this.world = scene.world;
  }

  protected get now(): number {
    return this.world.runtime.now();
  }

  /** The shape of whatever sends: of the stack, or of what stands within its flights. */
  protected shapeOf(sender: Sender): Shape {
    const shape = this.scene.shapes[sender.spec.stack] as Shape;
    return sender instanceof FlightRun ? shape.flight : shape;
  }

  protected fail(law: string, message: string): void {
    this.scene.fail(law, message);
  }

  /** A work has been started. */
  starts(_run: WorkRun): void {}
  /** An attempt of the dependency's was told to have ended; not a substitute's. */
  ends(_run: WorkRun, _ending: string, _durationMs: number): void {}
  answered(_call: CallRun, _exit: Exit): void {}
  event(_sender: Sender, _event: PlimsollEvent): void {}
  /** An admitter of a stack has let somebody in, or is about to refuse. */
  took(_spec: AdmitterSpec, _stack: number, _admission: Admission, _now: number): void {}
  refused(_spec: AdmitterSpec, _stack: number, _asking: Asking, _refusal: Rejected, _now: number): void {}
  /** The work chose one of these destinations. */
  chosen(_run: WorkRun, _from: readonly string[], _chosen: string): void {}
  /** The work is about to say that its callee has begun on it. */
  begun(_run: WorkRun): void {}
  /** A breaker has told of a change: an event of no single call. */
  changed(_event: PlimsollEvent & { type: "breaker.changed" }): void {}
  /** A substitute's attempt was told to have ended, of a work or of none. */
  substituteEnds(_sender: Sender, _ending: string): void {}
  /** Nothing is half-way. */
  look(): void {}
  /** Nothing happens any more by itself. */
  rest(): void {}
  /** Everything has ended; in so many ms everything can be as it was at first. */
  end(_laterMs: number): void {}
}
