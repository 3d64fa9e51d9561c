// A process that has stood still reads what came in meanwhile before its timers fire: an answer that is there is no timeout.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import type { Timer } from "../core/runtime.ts";
import { NodeRuntime } from "./runtime.ts";

const ANSWERS = `
  const { parentPort, workerData } = require("node:worker_threads");
  parentPort.postMessage("ready");
  Atomics.wait(workerData, 0, 0);
  parentPort.postMessage("answer");
  Atomics.store(workerData, 0, 2);
  Atomics.notify(workerData, 0);`;

it("reads what came in while the process stood still, then fires what was due", async () => {
  const runtime = new NodeRuntime();
  const state = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(ANSWERS, { eval: true, workerData: state });
  await once(worker, "message");
  const order: string[] = [];
  const heard = once(worker, "message").then(([message]) => void order.push(message));
  const fired = new Promise<void>((resolve) => {
    runtime.after(20, () => {
      order.push("timer");
      resolve();
    });
  });
  await new Promise(setImmediate); // from here on it is Node's timer that is waited for
  Atomics.store(state, 0, 1);
  Atomics.notify(state, 0);
  Atomics.wait(state, 0, 1); // the answer is there, and nobody has read it
  const until = runtime.now() + 60;
  while (runtime.now() < until); // the timer is due, and late
  await Promise.all([heard, fired]);
  expect(order).toEqual(["answer", "timer"]);
  await worker.terminate();
});

it("goes on with one timer of Node's, however often it was late", async () => {
  const runtime = new NodeRuntime();
  const timeouts = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timeouts();
  const late: Timer[] = [];
  for (let round = 0; round < 5; round += 1) {
    let fired = false;
    runtime.after(1, () => {
      fired = true;
    });
    await new Promise(setImmediate);
    const until = runtime.now() + 12;
    while (runtime.now() < until); // it is late now,
    late.push(runtime.after(30_000, () => {})); // and another is armed before it fires
    while (!fired) await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
  expect(timeouts() - before).toBeLessThanOrEqual(2); // the test runner may have set one of its own
  for (const timer of late) runtime.cancel(timer);
});
