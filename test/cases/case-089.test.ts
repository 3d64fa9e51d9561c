// Case 089: the back-up limiter answers for an ordinary refusal.
import { expect, it } from "vitest";
import { TokenBucket } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { virtualTime } from "../../src/node/testing/index.ts";
import { fault } from "../lib/lab.ts";

/** A limiter that asks a store, with a local one for when the store cannot be asked. */
function limiter(more: { permanent?: true } = {}) {
  const time = virtualTime();
  const store = { down: false, left: 2 };
  const backUp = new TokenBucket({ limit: 100, windowMs: 1_000 });
  let backUps = 0;
  const take = dependency({ name: "limits" }, time.runtime).operation("take", {
    fallback: {
      ...more,
      run: (_because, { runtime }) => {
        backUps++;
        const now = runtime.now();
        if (backUp.waitMs(1, now) > 0) throw fault("permanent");
        backUp.take(1, now);
        return "by the back-up";
      },
    },
  });
  const ask = () =>
    take.outcome(async () => {
      if (store.down) throw Object.assign(new Error("no store"), { code: "ECONNREFUSED" });
      if (store.left-- <= 0) throw fault("permanent", { effect: "none" }); // over the limit
      return "by the store";
    });
  return { ask, store, backUps: () => backUps };
}

it("case 089: the store's own refusal stands; only its failure is answered by the back-up, with a limit of its own", async () => {
  const { ask, store, backUps } = limiter();
  expect(await ask()).toMatchObject({ kind: "ok", value: "by the store" });
  expect(await ask()).toMatchObject({ kind: "ok", value: "by the store" });
  expect(await ask()).toMatchObject({ kind: "failed", class: "permanent" });
  expect(backUps()).toBe(0);
  store.down = true;
  const outcomes = await Promise.all(Array.from({ length: 150 }, ask));
  const passed = outcomes.filter(({ kind }) => kind === "ok");
  expect([passed.length, backUps()]).toEqual([100, 150]);
  expect(passed[0]).toMatchObject({ value: "by the back-up", degradedBy: { ended: "unsent" } });
});

it("case 089: that is the default; typed out, a fallback also answers for refusals", async () => {
  const { ask } = limiter({ permanent: true });
  for (let call = 0; call < 2; call++) await ask();
  expect(await ask()).toMatchObject({ kind: "ok", value: "by the back-up" });
});
