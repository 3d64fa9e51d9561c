// Case 142: each retry also hits a helper service that all share.
import { expect, it } from "vitest";
import { constant, stale } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { virtualTime } from "../../src/node/testing/index.ts";
import { fault } from "../lib/lab.ts";

const CLIENTS = 300;
const A_SECOND = 1_000; // look-ups that the helper answers

/** Clients that repeat a call to a store which is down; each attempt needs the store's address. */
async function outage(guarded: boolean) {
  const time = virtualTime({ seed: 2 });
  let [lookUps, failedLookUps, attempts, inSecond, second] = [0, 0, 0, 0, -1];
  const helper = async (): Promise<string> => {
    lookUps++;
    const now = Math.floor(time.now() / 1_000);
    [second, inSecond] = now === second ? [second, inSecond + 1] : [now, 1];
    await time.sleep(2);
    if (inSecond <= A_SECOND) return "10.0.0.7";
    failedLookUps++;
    throw fault("throttling");
  };
  const resolve = dependency({ name: "names", bulkhead: { limit: 50 } }, time.runtime).operation(
    "resolve",
    guarded ? { idempotent: true, coalesce: {}, fallback: stale({ maxAgeMs: 60_000 }) } : {},
  );
  const known = new Map<string, string>();
  const addressOf = async (name: string): Promise<string> => {
    if (!guarded) return helper();
    const address = known.get(name) ?? (await resolve(() => helper(), { key: name }));
    known.set(name, address);
    return address;
  };
  const call = dependency({ name: "store", budget: "none" }, time.runtime).operation("call", {
    idempotent: true,
    retry: { attempts: 40, backoff: constant(100) },
  });
  const work = async (): Promise<never> => {
    attempts++;
    await addressOf("store");
    await time.sleep(10);
    throw fault("transient");
  };
  await time.run(() => Promise.all(Array.from({ length: CLIENTS }, () => call.outcome(work))));
  return { lookUps, failedLookUps, attempts };
}

it("case 142: unguarded: every attempt looks the name up, and the helper goes down with the store", async () => {
  const { lookUps, failedLookUps, attempts } = await outage(false);
  expect(lookUps).toBe(attempts);
  expect(failedLookUps).toBeGreaterThan(attempts / 2);
});

it("case 142: guarded: look-ups follow new connections alone, and those who ask together share one", async () => {
  expect(await outage(true)).toEqual({ lookUps: 1, failedLookUps: 0, attempts: 40 * CLIENTS });
});
