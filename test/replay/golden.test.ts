// One seed, one history: the hash of a run's log, the same on every version of Node and every machine. A change here
// is a change of the model or of a guard; say which in the commit. `npx vitest run test/replay/golden --update`.
import { expect, it } from "vitest";
import { replayBasketly } from "../../src/sim/index.ts";

const runs = [
  { setting: "C0", seed: 1, untilS: 3 },
  { setting: "C1", seed: 1, untilS: 3, scale: 0.25 },
  { setting: "C2", seed: 2, untilS: 3, scale: 0.25 },
  { setting: "C4", seed: 3, untilS: 3 },
  { setting: "10z", seed: 4, untilS: 3, scale: 0.25 },
  { setting: "C0-cap40", seed: 5, untilS: 3, scale: 0.25 },
  { setting: "guarded", seed: 6, untilS: 8 },
  {
    setting: "C0",
    seed: 7,
    untilS: 6,
    scale: 0.25,
    overrides: { "at.3.flush": true, "at.3.app.attempts": 1 },
  },
];

it("the history of a run is what it was", { timeout: 60_000 }, () => {
  const histories = runs.map((run) => {
    const { hash, events } = replayBasketly(run).replay;
    return { ...run, hash, events };
  });
  expect(histories).toMatchSnapshot();
});

it("is the same history twice, and another with another seed or guard", { timeout: 60_000 }, () => {
  const hash = (setting: string, seed: number) => replayBasketly({ setting, seed, untilS: 1 }).replay.hash;
  expect(hash("C4", 1)).toBe(hash("C4", 1));
  expect(new Set([hash("C4", 1), hash("C4", 2), hash("C3", 1)]).size).toBe(3);
});

it("is not shifted by who listens", { timeout: 60_000 }, () => {
  const plan = { setting: "guarded", seed: 1, untilS: 2 };
  let heard = 0;
  const listened = replayBasketly({ ...plan, measured: true, sink: () => heard++ });
  expect(listened.replay).toEqual(replayBasketly(plan).replay);
  expect(heard).toBeGreaterThan(100_000);
});
