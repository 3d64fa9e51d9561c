import { describe, expect, it } from "vitest";
import type { Exit } from "../core/call.ts";
import type { EdgeSpec, SystemFile, WireSpec } from "../system/types.ts";
import { VirtualRuntime } from "../testing/virtual-runtime.ts";
import { type Exchange, WHOLE } from "./exchange.ts";
import { ServerTap } from "./taps.ts";
import type { Action } from "./workload.ts";
import { World } from "./world.ts";

const wire: WireSpec = { deadline: "none", cancel: false, unavailable: "retryable" };

interface Shape {
  readonly front?: Partial<EdgeSpec["operations"][string]>;
  readonly frontWire?: Partial<WireSpec>;
  readonly back?: Partial<EdgeSpec["operations"][string]>;
  readonly backWire?: Partial<WireSpec>;
  readonly places?: number;
  readonly workMs?: number;
  readonly lost?: boolean;
}

/** Users call `web`, which works 1 ms and calls `store`, which works `workMs` in one of `places`. */
function system(shape: Shape): SystemFile {
  const { places = 1, workMs = 100, lost = false } = shape;
  const unbounded = { maxWaiting: "unbounded", maxWaitMs: "unbounded" } as const;
  return {
    version: 1,
    name: "small",
    workload: { from: "user", actions: { act: { call: "web.act", perSecond: 0 } } },
    services: {
      web: {
        places: 10,
        queue: unbounded,
        operations: { act: { work: { kind: "fixed", ms: 1 }, calls: ["store.put"] } },
      },
      store: {
        places,
        queue: unbounded,
        operations: { put: { work: { kind: "fixed", ms: workMs }, effect: "write" } },
      },
    },
    edges: {
      "user -> web": {
        wire: { ...wire, ...shape.frontWire },
        budget: "none",
        operations: { act: { idempotent: true, ...shape.front } },
      },
      "web -> store": {
        wire: { ...wire, ...shape.backWire },
        budget: "none",
        operations: { put: { idempotent: true, ...shape.back } },
      },
    },
    ...(lost && { faults: [{ kind: "cancelsLost", edge: "web -> store" } as const] }),
  };
}

class Store extends ServerTap {
  readonly done: { at: number; wanted: boolean }[] = [];
  readonly stoppedAt: number[] = [];

  override finished(exchange: Exchange): void {
    this.done.push({ at: exchange.link.runtime.now(), wanted: exchange.wanted });
  }

  override stopped(exchange: Exchange): void {
    this.stoppedAt.push(exchange.link.runtime.now());
  }
}

class Lab {
  readonly runtime = new VirtualRuntime();
  readonly store = new Store();
  readonly ends: { at: number; exit: Exit | null }[] = [];
  readonly world: World;

  constructor(shape: Shape, flushable: string[] = []) {
    this.world = new World(system(shape), {
      runtime: this.runtime,
      zeroMs: 0,
      serverTaps: { store: this.store },
      actionTap: {
        arrived: () => {},
        ended: (_action: Action, exit) => this.ends.push({ at: this.runtime.now(), exit }),
      },
      flushable,
    });
  }

  /** One action now. */
  act(): void {
    this.world.act("act");
  }

  get kinds(): string[] {
    return this.ends.map(({ at, exit }) => `${at} ${exit?.kind ?? "shed"}`);
  }
}

describe("a request", () => {
  it("works, calls, and is answered", () => {
    const lab = new Lab({});
    lab.act();
    lab.runtime.advance(1_000);
    expect(lab.kinds).toEqual(["101 ok"]);
    expect(lab.ends[0]?.exit).toMatchObject({ value: WHOLE });
    expect(lab.store.done).toEqual([{ at: 101, wanted: true }]);
  });

  it("waits for a place, first in, first out", () => {
    const lab = new Lab({});
    lab.act();
    lab.runtime.advance(10);
    lab.act();
    lab.runtime.advance(50);
    expect(lab.world.servers("store")[0]).toMatchObject({ busy: 1, queued: 1 });
    lab.runtime.advance(1_000);
    expect(lab.kinds).toEqual(["101 ok", "201 ok"]);
  });
});

it("tells a caller that has tied its attempts when it begins on one, and drops the other", () => {
  for (const [tied, works] of [
    [true, 3],
    [false, 4],
  ] as const) {
    const lab = new Lab({ places: 2, back: { hedge: { delayMs: 150, tied } }, backWire: { cancel: true } });
    lab.act();
    lab.act();
    lab.runtime.advance(10);
    lab.world.act("act");
    lab.runtime.advance(1_000);
    expect(lab.ends.map(({ exit }) => exit?.kind)).toEqual(["ok", "ok", "ok"]);
    expect(lab.store.done.length + lab.store.stoppedAt.length).toBe(works);
  }
});

describe("a caller that gives up", () => {
  it("is worked for to the end when nobody is told", () => {
    const lab = new Lab({ back: { attemptTimeoutMs: 30 } });
    lab.act();
    lab.runtime.advance(60);
    expect(lab.kinds).toEqual(["31 failed"]);
    expect(lab.world.servers("store")[0]?.busy).toBe(1);
    lab.runtime.advance(1_000);
    expect(lab.store.done).toEqual([{ at: 101, wanted: false }]);
  });

  it("commits what it no longer waits for, once for each attempt", () => {
    const retry = { attempts: 3, backoff: { kind: "none" } } as const;
    const lab = new Lab({ places: 8, back: { attemptTimeoutMs: 30, retry } });
    lab.act();
    lab.runtime.advance(1_000);
    expect(lab.kinds).toEqual(["91 failed"]);
    expect(lab.store.done.map(({ at }) => at)).toEqual([101, 131, 161]);
  });

  it("frees the callee's place at once when its cancel arrives", () => {
    const lab = new Lab({ back: { attemptTimeoutMs: 30 }, backWire: { cancel: true } });
    lab.act();
    lab.runtime.advance(10);
    lab.act();
    lab.runtime.advance(25);
    expect(lab.store).toMatchObject({ done: [], stoppedAt: [31] });
    expect(lab.world.servers("store")[0]).toMatchObject({ busy: 1, queued: 0 });
    lab.runtime.advance(1_000);
    expect(lab.store.stoppedAt).toEqual([31, 41]);
    expect(lab.world.servers("store")[0]).toMatchObject({ busy: 0, queued: 0 });
  });

  it("is cancelled through every hop", () => {
    const lab = new Lab({
      front: { attemptTimeoutMs: 50 },
      frontWire: { cancel: true },
      backWire: { cancel: true },
    });
    lab.act();
    lab.runtime.advance(1_000);
    expect(lab.store.stoppedAt).toEqual([50]);
    expect(lab.world.servers("web")[0]?.busy).toBe(0);
  });
});

describe("a deadline on the wire", () => {
  it("stops the callee when the cancel is lost", () => {
    const sent = { deadline: "attempt", cancel: true } as const;
    const lab = new Lab({ back: { attemptTimeoutMs: 30 }, backWire: sent, lost: true });
    lab.act();
    lab.runtime.advance(1_000);
    expect(lab.store.stoppedAt).toEqual([31]);
  });

  it("of the whole request outlives the attempt", () => {
    const lab = new Lab({
      front: { attemptTimeoutMs: 80 },
      frontWire: { deadline: "attempt" },
      back: { attemptTimeoutMs: 30 },
      backWire: { deadline: "request" },
    });
    lab.act();
    lab.runtime.advance(1_000);
    expect(lab.kinds).toEqual(["31 failed"]);
    expect(lab.store.stoppedAt).toEqual([80]);
  });

  it("is shorter by the margin", () => {
    const lab = new Lab({ back: { attemptTimeoutMs: 30 }, backWire: { deadline: "attempt", marginMs: 5 } });
    lab.act();
    lab.runtime.advance(1_000);
    expect(lab.store.stoppedAt).toEqual([26]);
    expect(lab.kinds).toEqual(["26 failed"]);
  });
});

describe("an operator", () => {
  it("drops what waits, without a word", () => {
    const lab = new Lab({ front: { attemptTimeoutMs: 500 } }, ["store"]);
    for (let i = 0; i < 3; i++) lab.act();
    lab.runtime.advance(50);
    lab.world.flush("store");
    expect(lab.world.servers("store")[0]).toMatchObject({ busy: 1, queued: 0 });
    lab.runtime.advance(1_000);
    expect(lab.kinds).toEqual(["101 ok", "500 failed", "500 failed"]);
  });

  it("changes guards for new calls only", () => {
    const retry = { attempts: 2, backoff: { kind: "none" } } as const;
    const lab = new Lab({ places: 8, back: { attemptTimeoutMs: 30, retry } });
    lab.act();
    lab.runtime.advance(10);
    lab.world.change(system({ places: 8, back: { attemptTimeoutMs: 40 } }));
    lab.act();
    lab.runtime.advance(1_000);
    expect(lab.kinds).toEqual(["51 failed", "61 failed"]);
  });

  it("adds places, and waiting requests get them at once", () => {
    const lab = new Lab({});
    lab.act();
    lab.act();
    lab.runtime.advance(50);
    lab.world.change(system({ places: 2 }));
    expect(lab.world.servers("store")[0]).toMatchObject({ busy: 2, queued: 0 });
  });

  it("turns a share of the users away", () => {
    const lab = new Lab({});
    lab.world.shed(1);
    lab.act();
    expect(lab.kinds).toEqual(["0 shed"]);
  });
});

describe("a callee whose time is over", () => {
  const retry = { attempts: 2, backoff: { kind: "none" } } as const;
  const shape = { places: 8, back: { attemptTimeoutMs: 30, retry } };
  const sent = { deadline: "attempt", marginMs: 5 } as const;

  it("says 504, which is tried again although a 503 is not", () => {
    const lab = new Lab({ ...shape, backWire: { ...sent, unavailable: "final" } });
    lab.act();
    lab.runtime.advance(1_000);
    expect(lab.store.stoppedAt).toEqual([26, 51]);
  });

  it("is not asked again by a caller that takes any answer for the last", () => {
    const lab = new Lab({ ...shape, backWire: { ...sent, late: "final" } });
    lab.act();
    lab.runtime.advance(1_000);
    expect(lab.store.stoppedAt).toEqual([26]);
  });
});
