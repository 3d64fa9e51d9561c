// The stated figures of the outage as shipped (C0), and of what an operator can do about it at 20:02:00. The three
// runs of a seed differ only from 20:02:00 on, so what comes before is read off one of them.
import { describe, expect, it } from "vitest";
import { recoveredAt } from "../../src/sim/index.ts";
import { everySeed, FEW, over, Runs, recovered, row } from "./runs.ts";

const flush = { "at.120.flush": true };
const noRetries = {
  ...flush,
  "at.120.app.attempts": 1,
  "at.120.shop-api.stock.attempts": 1,
  "at.120.stock.db.attempts": 1,
};

const flushed = new Runs({ setting: "C0", untilS: 126, overrides: flush, measured: true });

describe("a normal evening, before 20:00:00", () => {
  const from = (second: number) => second + 15;
  row("1.a", "busy threads, 19:59:46 to :54", 25, 27, () =>
    flushed.mean(({ measures }) => {
      const busy = measures?.busy.slice(from(-14), from(-6)) ?? [];
      return busy.reduce((sum, value) => sum + value, 0) / busy.length;
    }),
  );
  row("1.b", "busy threads at 19:59:55, seed 1", 19, 36, () =>
    over(flushed.replays[0]!, -5, -4, (second) => second.busy),
  );
});

describe("C0: the site falls over and stays down", () => {
  const finished = (from: number, to: number) =>
    flushed.mean(({ measures }) => {
      const counts = measures?.finished.slice(from + 15, to + 15) ?? [];
      return counts.reduce((sum, value) => sum + value, 0) / counts.length;
    });
  row("1.d", "app attempts once it is down", 6_080, 6_280, () =>
    flushed.mean(({ replay }) => over(replay, 10, 60, (second) => second.appAttempts)),
  );
  row("1.e", "requests that shop-api finishes after the hiccup", 3_200, 3_330, () => finished(25, 60));
  row("1.f", "goodput from 20:00:02 on", 0, 5, () =>
    flushed.mean(({ replay }) => over(replay, 2, 120, (second) => second.goodput)),
  );
  row("1.g", "database work for nobody in the hiccup", 190, 210, () =>
    flushed.mean(({ replay }) => over(replay, 2, 20, (second) => second.dbForNobody)),
  );
  row("1.h", "database work for nobody after it", 1_950, 2_050, () =>
    flushed.mean(({ replay }) => over(replay, 22, 120, (second) => second.dbForNobody)),
  );
  everySeed("1.i", "never recovers", flushed, null, ({ replay }) =>
    recoveredAt(replay.seconds.filter(({ at }) => at < 120)),
  );
  row("2.a", "wait for a connection in the hiccup, mean ms", 570, 630, () =>
    flushed.mean(({ measures }) => {
      const waits = measures?.waits.slice(15 + 1, 15 + 20) ?? [];
      const count = waits.reduce((sum, { count }) => sum + count, 0);
      return waits.reduce((sum, { totalMs }) => sum + totalMs, 0) / count;
    }),
  );
  row("2.b", "longest wait for a connection, ms", 600, 850, () =>
    flushed.mean(({ measures }) => Math.max(...(measures?.waits.map(({ longestMs }) => longestMs) ?? []))),
  );
  row("10.a", "queued in shop-api at 20:02:00", 395_000, 411_000, () =>
    flushed.mean(({ replay }) => over(replay, 120, 121, (second) => second.queued)),
  );
});

describe("20:02:00: getting out", () => {
  it("10.b a flush recovers at once, in most seeds", { timeout: 600_000 }, () => {
    expect(flushed.all.map(recovered).filter((at) => at <= 121).length).toBeGreaterThanOrEqual(4);
  });

  const shed = new Runs({ setting: "C0", untilS: 123, overrides: { "at.120.shed": 0.5 } }, FEW);
  everySeed("10.c", "half the arrivals shed: never", shed, null, ({ replay }) => replay.recoveredAtS);

  const quiet = new Runs({ setting: "C0", untilS: 126, overrides: noRetries }, FEW);
  row("10.d", "a flush and no retries: recovers at", 120, 123, () => quiet.mean(recovered));
});
