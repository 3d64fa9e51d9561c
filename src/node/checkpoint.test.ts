import { expect, it } from "vitest";
import { checkpoint } from "../index.node.ts";

it("costs no turn of the loop while little has been computed", () => {
  expect(checkpoint(new AbortController().signal, { everyMs: 60_000 })).toBeUndefined();
});

it("throws the reason of a signal that has fired", () => {
  const reason = new Error("gone");
  expect(() => checkpoint(AbortSignal.abort(reason))).toThrow(reason);
});

it("lets timers and other work run in a loop that computes, and so hears of its end", async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("too late")), 1);
  let rounds = 0;
  const loop = async (): Promise<void> => {
    for (; rounds < 1e9; rounds++) await checkpoint(controller.signal, { everyMs: 0 });
  };
  await expect(loop()).rejects.toThrow("too late");
  expect(rounds).toBeLessThan(1e9);
});

it("refuses wrong options by name", () => {
  const { signal } = new AbortController();
  expect(() => checkpoint(signal, { everyMs: -1 })).toThrow("checkpoint.everyMs");
  expect(() => checkpoint(signal, { ms: 1 } as never)).toThrow("checkpoint.ms");
});
