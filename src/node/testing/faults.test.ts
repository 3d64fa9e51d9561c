import * as undici from "undici";
import { expect, it, vi } from "vitest";
import { serve, until } from "../../../test/lib/http.ts";
import { OptionError } from "../../core/index.ts";
import { dependency } from "../../facade/index.ts";
import { createFetch, fetch as guardedFetch } from "../fetch/index.ts";
import { NodeRuntime } from "../runtime.ts";
import { type Fault, type FaultOptions, faults, scripted, virtualTime } from "./index.ts";

function worldOf(limit = 100) {
  const time = virtualTime({ seed: 5 });
  const stock = dependency({ name: "stock", bulkhead: { limit } }, time.runtime);
  return { time, stock, view: stock.operation("view", { attemptTimeoutMs: 1_000 }) };
}

it("starts late, on the attempt's own clock", async () => {
  const { time, view } = worldOf();
  const work = scripted([{ value: 1, afterMs: 5 }]);
  const late = faults(work, { script: [{ fault: "latency", ms: 300 }] });
  expect(await time.run(() => view(late))).toBe(1);
  expect([time.now(), work.attempts[0]?.at]).toEqual([305, 300]);
  expect(await time.run(() => view(late))).toBe(1); // the script is over
  expect(time.now()).toBe(310);
});

it("does not start work whose caller has gone meanwhile", async () => {
  const { time, view } = worldOf();
  const work = scripted([{ value: 1 }]);
  const late = faults(work, { script: [{ fault: "latency", ms: 5_000 }] });
  await expect(time.run(() => view(late))).rejects.toMatchObject({ code: "PLIMSOLL_TIMEOUT" });
  expect([work.attempts, view.abandoned, time.runtime.pending]).toEqual([[], 0, 0]);
});

it("fails without starting, as what was not sent, or with an error of one's own", async () => {
  const { time, view } = worldOf();
  const work = scripted([{ value: 1 }]);
  const mine = new Error("mine");
  const failing = faults(work, { script: [{ fault: "error" }, { fault: "error", error: mine }] });
  expect(await time.run(() => view.outcome(failing))).toMatchObject({ ended: "unsent", effect: "none" });
  await expect(time.run(() => view(failing))).rejects.toBe(mine);
  expect([work.attempts, failing.injected.error]).toEqual([[], 2]);
});

it("breaks the connection while the work goes on, and holds its place until that has ended", async () => {
  const { time, stock, view } = worldOf();
  const work = scripted([{ value: 1, afterMs: 200, ignoresSignal: true }]);
  const cut = faults(work, { script: [{ fault: "abort", ms: 50 }] });
  const outcome = await time.run(() => view.outcome(cut));
  expect(outcome).toMatchObject({ kind: "failed", class: "transient", effect: "unknown" });
  expect([time.now(), stock.bulkhead?.gate.held, view.abandoned]).toEqual([50, 1, 1]);
  await time.advance(150);
  expect([work.attempts[0]?.endedAt, stock.bulkhead?.gate.held, view.abandoned]).toEqual([200, 0, 0]);
});

it("loses the answer of work that has run: with a reset, or without a word", async () => {
  const { time, view } = worldOf();
  let effects = 0;
  const work = async (): Promise<number> => {
    await time.sleep(30);
    return ++effects;
  };
  const lossy = faults(work, { script: [{ fault: "lostReply" }, { fault: "lostReply", hangs: true }] });
  await expect(time.run(() => view(lossy))).rejects.toMatchObject({ code: "ECONNRESET" });
  expect([effects, time.now()]).toEqual([1, 30]);
  await expect(time.run(() => view(lossy))).rejects.toMatchObject({ code: "PLIMSOLL_TIMEOUT" });
  expect([effects, time.now(), lossy.injected.lostReply]).toEqual([2, 1_030, 2]);
});

it("hits each its share of the attempts, the same ones for the same seed and name", async () => {
  const hits = async (name: string, seed = 5): Promise<string> => {
    const time = virtualTime({ seed });
    const view = dependency({ name: "stock" }, time.runtime).operation("view");
    const work = faults(() => "ok", {
      name,
      rates: [
        { fault: "error", rate: 0.1 },
        { fault: "lostReply", rate: 0.2 },
      ],
    });
    let story = "";
    for (let i = 0; i < 1_000; i++) {
      const outcome = await time.run(() => view.outcome(work));
      story += outcome.kind === "failed" ? (outcome.ended === "unsent" ? "e" : "l") : ".";
    }
    expect(work.injected.error).toBe([...story].filter((each) => each === "e").length);
    expect(work.injected.error).toBeGreaterThan(70);
    expect(work.injected.error).toBeLessThan(130);
    expect(work.injected.lostReply).toBeGreaterThan(160);
    expect(work.injected.lostReply).toBeLessThan(240);
    return story;
  };
  expect(await hits("a")).toBe(await hits("a"));
  expect(await hits("a")).not.toBe(await hits("b"));
  expect(await hits("a")).not.toBe(await hits("a", 6));
});

it("stands around fetch, on the real runtime: whoever is told of a reset gave no socket away", async () => {
  const { url, seen } = await serve((_, response) => response.end("x".repeat(100_000)));
  const runtime = new NodeRuntime({ seed: 1 });
  const lost = { script: [{ fault: "lostReply" }, null, { fault: "abort", ms: 0 }] } as const;
  const view = dependency({ name: "stock", bulkhead: { limit: 1 } }, runtime).operation("view", {
    idempotent: true,
    retry: { attempts: 2, backoff: { kind: "constant", delayMs: 1 } },
  });
  const inside = createFetch({ fetch: faults(globalThis.fetch, { ...lost, runtime }) });
  const text = await view((attempt) => inside(url, attempt).then((response) => response.text()));
  expect([text.length, seen.length]).toEqual([100_000, 2]);

  const around = faults(guardedFetch, { script: [{ fault: "lostReply" }] });
  await view((attempt) => around(url, attempt).then((response) => response.text()));
  expect([seen.length, around.injected.lostReply]).toEqual([4, 1]);
  expect(view.abandoned).toBe(0);
});

// undici's own fetch makes replies that are none of the platform's.
it.each<[Fault, typeof globalThis.fetch]>([
  [{ fault: "lostReply" }, globalThis.fetch],
  [{ fault: "abort", ms: 1 }, globalThis.fetch],
  [{ fault: "lostReply" }, undici.fetch as never],
])("keeps no socket for a reply that nobody hears: %s", async (each, send) => {
  const { url, sockets } = await serve((_, response) => void response.write("it never ends"));
  const cut = faults((address: string) => send(address), { script: [each] });
  await expect(cut(url)).rejects.toThrow("ECONNRESET");
  await until(() => sockets.closed >= 1);
});

it("is heard by the signal among fetch's options", async () => {
  const time = virtualTime();
  const never = faults(async (_url: string, _init: { signal: AbortSignal }) => 1, {
    script: [{ fault: "lostReply", hangs: true }],
    runtime: time.runtime,
  });
  const controller = new AbortController();
  const answer = never("/", { signal: controller.signal });
  const heard = vi.fn();
  answer.catch(heard);
  await time.settle();
  expect(heard).not.toHaveBeenCalled();
  controller.abort(new Error("gone"));
  await expect(answer).rejects.toThrow("gone");
});

it.each<[string, unknown]>([
  ["faults.rates", {}],
  ["faults.rates", { rates: [{ fault: "error", rate: 0.1 }], script: [null] }],
  ["faults.rates", { rates: 3 }],
  ["faults.script", { script: "error" }],
  ["faults.rates", { rates: [0.6, 0.5].map((rate) => ({ fault: "error", rate })) }],
  ["faults.rates[0].rate", { rates: [{ fault: "error", rate: 1.5 }] }],
  ["faults.rates[0].rate", { rates: [{ fault: "error" }] }],
  ["faults.rates[0].fault", { rates: [{ fault: "delay", rate: 0.5 }] }],
  ["faults.script[1].ms", { script: [null, { fault: "latency" }] }],
  ["faults.script[0].ms", { script: [{ fault: "error", ms: 3 }] }],
  ["faults.script[0].hangs", { script: [{ fault: "lostReply", hangs: 1 }] }],
  ["faults.script[0]", { script: ["error"] }],
  ["faults.name", { script: [null], name: "" }],
])("refuses wrong options by name: %s", (field, options) => {
  const making = (): unknown => faults(() => 1, options as FaultOptions);
  expect(making).toThrow(OptionError);
  expect(making).toThrow(`${field} is`);
});

it("takes ten tenths for a whole", () => {
  const rates = Array.from({ length: 10 }, () => ({ fault: "error", rate: 0.1 }) as const);
  expect(() => faults(() => 1, { rates })).not.toThrow();
});
