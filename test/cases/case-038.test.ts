// Case 038: fan-out multiplies the retry allowance of each branch.
import { expect, it } from "vitest";
import { immediately } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { scripted, virtualTime } from "../../src/node/testing/index.ts";
import { fault } from "../lib/lab.ts";

/** A request of 32 branches that all fail once; `allowance` is what may be repeated for it. */
async function fanOut(allowance: { burst: number; ratio: number } | "none") {
  const time = virtualTime();
  const shards = dependency({ name: "shards", budget: allowance }, time.runtime);
  const read = shards.operation("read", { idempotent: true, retry: { attempts: 3, backoff: immediately } });
  const work = Array.from({ length: 32 }, (_, branch) =>
    scripted([
      { error: fault("transient"), afterMs: 5 },
      { value: branch, afterMs: 5 },
    ]),
  );
  const outcomes = await time.run(() => Promise.all(work.map((each) => read.outcome(each))));
  return { outcomes, extra: work.reduce((sum, { attempts }) => sum + attempts.length - 1, 0) };
}

it("case 038: a request's allowance of 8 is shared, first come, first served; the rest say why", async () => {
  const { outcomes, extra } = await fanOut({ burst: 8, ratio: 0 });
  expect(extra).toBe(8);
  expect(outcomes.slice(0, 8).map(({ kind }) => kind)).toEqual(new Array(8).fill("ok"));
  for (const outcome of outcomes.slice(8))
    expect(outcome).toMatchObject({ kind: "failed", stoppedBy: { by: "budget", reason: "empty" } });
});

it("case 038: without it every branch repeats", async () => {
  expect((await fanOut("none")).extra).toBe(32);
});
