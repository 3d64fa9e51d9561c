// Places (laws 2, 5, 6, 10): held by exactly the work that goes on, within every limit, and given on in order.
import { type Admission, Attempt } from "../../../src/core/index.ts";
import { type Around, aroundOf } from "../around.ts";
import type { BulkheadSpec } from "../program.ts";
import type { CallRun, Fields, WorkRun } from "../records.ts";
import type { WatchedBulkhead } from "../watched.ts";
import { Law, type Scene } from "./law.ts";

const callOf = ({ call }: Admission): CallRun => (call.fields as Fields).run;

/** What holds at least, and at most. */
interface Bounds {
  least: number;
  most: number;
}

/** Evidence that a limit may have learnt from, since it was last seen to change. */
interface Lesson {
  limit: number;
  good: number;
  bad: number;
}

export class Places extends Law {
  readonly #lessons: Lesson[];

  constructor(scene: Scene) {
    super(scene);
    const { bulkheads } = this.world.parts;
    for (const bulkhead of bulkheads) bulkhead.report = (law, message) => this.fail(law, message);
    this.#lessons = bulkheads.map(({ gate }) => ({ limit: gate.limit, good: 0, bad: 0 }));
  }

  override ends(run: WorkRun, ending: string): void {
    for (const guard of this.shapeOf(run.sender).innermost) {
      const lesson = guard.kind === "bulkhead" ? this.#lessons[guard.of] : undefined;
      if (lesson === undefined) continue;
      if (ending === "ok" || ending === "degraded" || ending === "permanent") lesson.good++;
      else if (ending === "throttled" || ending === "timeout") lesson.bad++;
    }
  }

  override starts({ sender }: WorkRun): void {
    for (const guard of this.shapeOf(sender).innermost) if (guard.kind === "bulkheads") this.#lookAtKeys();
  }

  override look(): void {
    const { specs, bulkheads } = { specs: this.world.program.bulkheads, ...this.world.parts };
    const around = aroundOf(this.world);
    bulkheads.forEach((bulkhead, index) => {
      const spec = specs[index] as BulkheadSpec;
      this.#lookAtQueue(bulkhead, spec);
      this.#lookAtPlaces(bulkhead, spec, around);
      this.#lookAtLimit(bulkhead, spec, index);
    });
    this.#lookAtKeys();
  }

  #lookAtQueue(bulkhead: WatchedBulkhead, spec: BulkheadSpec): void {
    const { gate, waiting, waitingBytes, inFlightBytes } = bulkhead;
    const waiters = bulkhead.look();
    const first = waiters[0]?.admission.call.bytes ?? 0;
    if (waiting > 0 && gate.free && inFlightBytes + first <= (spec.maxBytes ?? Infinity))
      this.fail("5", `${waiting} wait while a place is free`);
    if (waiting > spec.maxWaiting) this.fail("6", `${waiting} wait`);
    if (waiting !== waiters.length) this.fail("5", `${waiters.length} wait, and the queue says ${waiting}`);
    const bytes = waiters.reduce((sum, { admission }) => sum + admission.call.bytes, 0);
    if (bytes !== waitingBytes || bytes > (spec.maxWaitingBytes ?? Infinity))
      this.fail("6", `${bytes} bytes wait, and the queue says ${waitingBytes}`);
    for (const { admission, since } of waiters) {
      const end = Math.min(since + spec.maxWaitMs, admission.call.deadline);
      if (this.scene.exact && this.now > end) this.fail("6", "waits too long");
      const call = callOf(admission);
      if (call.answered && admission.call.id === call.process?.id)
        this.fail("3", `${call.name} is answered, and waits`);
    }
  }

  #lookAtPlaces(bulkhead: WatchedBulkhead, spec: BulkheadSpec, around: Around): void {
    const [places, bytes] = [
      { least: 0, most: 0 },
      { least: 0, most: 0 },
    ];
    for (const admission of bulkhead.holders) {
      const [least, most] = this.#holds(admission, spec, around);
      if (least) add(places, bytes, "least", admission);
      if (most) add(places, bytes, "most", admission);
    }
    const { gate, inFlightBytes } = bulkhead;
    if (gate.held < 0) this.fail("10", `${gate.held} places held`);
    if (gate.held > bulkhead.peak) this.fail("2", `${gate.held} held, of ${bulkhead.peak} at most`);
    if (gate.held < places.least) this.fail("2", `${gate.held} places held by ${places.least} that go on`);
    if (gate.held > places.most) this.fail("2", `${gate.held} places held, and at most ${places.most} go on`);
    if (spec.maxBytes !== null && (inFlightBytes < bytes.least || inFlightBytes > bytes.most))
      this.fail("2", `${inFlightBytes} bytes held, of ${bytes.least} to ${bytes.most} that go on`);
  }

  /** Whether it must hold its place, and whether it may. */
  #holds(admission: Admission, spec: BulkheadSpec, around: Around): [boolean, boolean] {
    const certain = spec.reclaimMs === null;
    const run = this.world.workOf.get(admission);
    if (run !== undefined) {
      const works = this.world.live.has(run);
      const subtree = spec.holds === "subtree";
      const must = works || (subtree && around.sure.has(admission));
      const may = works || (subtree && around.possible.has(admission));
      return [must && (certain || run.attempt.state === "sent"), may];
    }
    if (admission instanceof Attempt) return [false, false]; // let in, and never sent
    if (around.sure.has(admission)) return [certain, true];
    return [false, around.possible.has(admission) || this.world.known(admission.call.id)?.goesOn === true];
  }

  /** A limit that learns stays within its bounds, and moves only for a reason. */
  #lookAtLimit({ gate }: WatchedBulkhead, { limit }: BulkheadSpec, index: number): void {
    if (typeof limit === "number") return;
    const lesson = this.#lessons[index] as Lesson;
    if (gate.limit < limit.min || gate.limit > limit.max)
      this.fail("10", `a limit of ${gate.limit}, of ${limit.min} to ${limit.max}`);
    if (gate.limit === lesson.limit) return;
    const scoped = this.scene.shapes.some(({ scopes }) =>
      scopes.some((guard) => guard.kind === "bulkhead" && guard.of === index),
    );
    const why = gate.limit < lesson.limit ? lesson.bad : lesson.good;
    if (limit.kind === "aimd" && why === 0 && !scoped)
      this.fail("10", `a limit went from ${lesson.limit} to ${gate.limit} for no reason`);
    this.#lessons[index] = { limit: gate.limit, good: 0, bad: 0 };
  }

  /** Whatever is forgotten of keys, no key holds more than its limit. */
  #lookAtKeys(): void {
    for (const { stack, spec, machine } of this.world.parts.keyedBulkheads) {
      const { limit, reclaimMs } = this.world.program.bulkheads[spec.of] as BulkheadSpec;
      const most = typeof limit === "number" ? limit : limit.max;
      const shape = this.scene.shapes[stack];
      const scoped = shape?.scopes.some(({ kind }) => kind === "bulkheads") === true;
      if (scoped || reclaimMs !== null) continue;
      const held = new Map<string, number>();
      for (const { isFallback, sender } of this.world.live) {
        if (isFallback || sender.spec.stack !== stack) continue;
        const key = sender.spec[spec.by];
        held.set(key, (held.get(key) ?? 0) + 1);
      }
      for (const [key, count] of held) {
        if (count > most) this.fail("2", `${count} go on for a key, of ${most}`);
        const known = machine.of(key)?.gate.held ?? 0;
        if (known < count) this.fail("2", `${count} go on for a key that holds ${known}`);
      }
    }
  }

  override end(): void {
    const { bulkheads, keyedBulkheads } = this.world.parts;
    for (const { gate, waiting, inFlightBytes, waitingBytes } of bulkheads) {
      if (gate.held !== 0 || waiting !== 0)
        this.fail("2", `${gate.held} held and ${waiting} waiting at the end`);
      if (inFlightBytes !== 0 || waitingBytes !== 0)
        this.fail("2", `${inFlightBytes} bytes held and ${waitingBytes} waiting at the end`);
    }
    for (const { machine } of keyedBulkheads) {
      for (const [, { gate, waiting }] of machine.keys.entries())
        if (gate.held !== 0 || waiting !== 0)
          this.fail("2", `${gate.held} held and ${waiting} waiting for a key at the end`);
    }
  }
}

function add(places: Bounds, bytes: Bounds, which: keyof Bounds, { call }: Admission): void {
  places[which]++;
  bytes[which] += call.bytes;
}
