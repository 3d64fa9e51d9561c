// A trace's arithmetic: the time left falls in a hop by what passed there, on the wire by the margin.
import { expect, it } from "vitest";
import { deepest, fallsOf, type Step, type Trace, tracesOf, wrongFalls } from "./trace.ts";

const MARGIN_MS = 4;

const step = (
  atMs: number,
  hop: Step["hop"],
  what: Step["what"],
  leftMs: number,
  to?: Step["hop"],
): Step => ({
  trace: "cart 1",
  atMs,
  hop,
  what,
  leftMs,
  ...(to !== undefined && { to, attempt: 1 }),
});

const good: readonly Step[] = [
  step(0, "app", "sent", 2_000, "shop-api"),
  step(1, "shop-api", "arrived", 1_996),
  step(12, "shop-api", "sent", 60, "stock"),
  step(13, "stock", "arrived", 56),
  step(20, "stock", "sent", 49, "database"),
  step(20.5, "database", "arrived", 44),
  step(25, "stock", "ended", 44),
];
const changed = (index: number, leftMs: number) =>
  tracesOf(good.map((each, i) => (i === index ? { ...each, leftMs } : each)))[0] as Trace;

it("is put together from what each process noted, in order of time", () => {
  const other = { ...(good[0] as Step), trace: "checkout 2" };
  const [first, second] = tracesOf([...[...good].reverse(), other]);
  expect(first?.steps.map(({ hop }) => hop)).toEqual(good.map(({ hop }) => hop));
  expect(second).toEqual({ name: "checkout 2", steps: [other] });
});

it("falls from hop to hop", () => {
  const [trace] = tracesOf(good);
  const falls = fallsOf(trace as never).map(({ from, to, elapsedMs, fellMs }) => [
    `${from.hop} to ${to.hop}`,
    elapsedMs,
    fellMs,
  ]);
  expect(falls).toEqual([
    ["app to shop-api", 1, 4],
    ["shop-api to shop-api", 11, 1_936],
    ["shop-api to stock", 1, 4],
    ["stock to stock", 7, 7],
    ["stock to database", 0.5, 5],
  ]);
  expect(wrongFalls(trace as never, MARGIN_MS)).toEqual([]);
});

it("is wrong where a callee was told too much, or a hop forgot what had passed", () => {
  expect(wrongFalls(changed(3, 57), MARGIN_MS)).toEqual([
    "cart 1: from shop-api to stock the time left fell by 3.0 ms, not by 4.0",
  ]);
  expect(wrongFalls(changed(4, 53), MARGIN_MS)).toEqual([
    "cart 1: in stock the time left fell by 3.0 ms, not by 6.0",
  ]);
});

it("leaves the database 1 ms at least", () => {
  const late = changed(4, 2.5);
  const told = late.steps.map((each: Step) => (each.hop === "database" ? { ...each, leftMs: 1 } : each));
  expect(wrongFalls({ name: "cart 1", steps: told }, MARGIN_MS)).toEqual([]);
});

it("says nothing of hops that were told nothing", () => {
  const deaf = good.map((each) => (each.hop === "app" ? each : { ...each, leftMs: Infinity }));
  expect(wrongFalls(tracesOf(deaf)[0] as never, MARGIN_MS)).toEqual([]);
});

it("shows the one that got furthest", () => {
  const [deep] = tracesOf(good);
  const shallow = { name: "cart 0", steps: good.slice(0, 2) };
  expect(deepest([shallow, deep as never])).toBe(deep);
  expect(deepest([])).toBeUndefined();
});
