// Case 140: the back-off is reset by a success that was no success.
import { expect, it } from "vitest";
import { fullJitter, type OperationOptions } from "../../src/core/index.ts";
import { dependency, type Operation } from "../../src/facade/index.ts";
import { type VirtualTime, virtualTime } from "../../src/node/testing/index.ts";

const WINDOW_MS = 10_000;
const CLIENTS = 50;
const repeating = (attempts: number): OperationOptions => ({
  idempotent: true,
  retry: { attempts, backoff: fullJitter({ baseMs: 100, capMs: 600_000 }) },
});

/** Clients that need one useful answer each; connecting works, and the first request stalls. Connections in each ten seconds. */
async function connects(
  client: (view: Operation, time: VirtualTime, connect: () => Promise<void>) => Promise<unknown>,
) {
  const time = virtualTime({ seed: 3 });
  const perWindow = new Array<number>(5).fill(0);
  const connect = async (): Promise<void> => {
    await time.sleep(10);
    const window = Math.floor(time.now() / WINDOW_MS);
    if (window < perWindow.length) perWindow[window] = (perWindow[window] ?? 0) + 1;
  };
  const view = dependency({ name: "store", budget: "none" }, time.runtime).operation("view", repeating(100));
  for (let i = 0; i < CLIENTS; i++) void client(view, time, connect).catch(() => {});
  await time.advance(5 * WINDOW_MS);
  return perWindow;
}

const stalls = async (time: VirtualTime): Promise<never> => {
  await time.sleep(500);
  throw new Error("the first request stalled");
};

it("case 140: unguarded: each connection begins the back-off anew, and the attempts never fall", async () => {
  const perWindow = await connects(async (view, time, connect) => {
    for (;;) {
      await view(() => connect()); // its back-off is over with the connection
      await stalls(time).catch(() => {});
    }
  });
  expect(perWindow.at(-1)).toBeGreaterThan(0.9 * (perWindow[0] ?? 0));
});

it("case 140: guarded: only a useful answer ends the call, and so its back-off", async () => {
  const perWindow = await connects((view, time, connect) =>
    view(async () => {
      await connect();
      return stalls(time);
    }),
  );
  const [first = 0, second = 0, third = 0] = perWindow;
  expect(second).toBeLessThan(first / 3);
  expect(third).toBeLessThanOrEqual(second);
  expect(perWindow.at(-1)).toBeLessThan(first / 6);
});
