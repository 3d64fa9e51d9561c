import { describe, expect, it } from "vitest";
import { fault, Lab } from "../../../test/lib/lab.ts";
import { PLAIN_CALL } from "../call.ts";
import { aimd } from "../concurrency-limit/machine.ts";
import { timeout } from "../timeout/guard.ts";
import { Bulkhead, bulkhead } from "./guard.ts";

describe("a bulkhead whose limit learns", () => {
  it("grows while it is used and answered well, is cut at an overload, and lets waiters in as it grows", () => {
    const lab = new Lab();
    const cap = new Bulkhead(
      { limit: aimd({ initial: 2, max: 4, cut: 0.5 }), queue: { maxWaiting: 50 } },
      lab.runtime,
    );
    const stack = lab.stack([bulkhead(cap), timeout(1_000)]);
    for (let i = 0; i < 20; i++) lab.start(stack, lab.gives(1, 10));
    lab.runtime.advance(30);
    expect(cap.gate.limit).toBeGreaterThan(2);
    expect(cap.gate.held).toBe(cap.gate.limit);
    lab.runtime.runToIdle();
    expect(cap.gate.limit).toBe(4);
    for (let i = 0; i < 4; i++) lab.start(stack, lab.throws(fault("throttling"), 5));
    lab.runtime.runToIdle();
    expect([cap.gate.limit, cap.gate.held, cap.waiting]).toEqual([2, 0, 0]);
  });

  it("is cut by timeouts, whose work still holds its places", () => {
    const lab = new Lab();
    const cap = new Bulkhead({ limit: aimd({ initial: 4, cut: 0.5 }) }, lab.runtime);
    const stack = lab.stack([bulkhead(cap), timeout(50)]);
    for (let i = 0; i < 4; i++) lab.start(stack, lab.hangs);
    lab.runtime.advance(50);
    expect([cap.gate.limit, cap.gate.held]).toEqual([2, 4]);
    expect(lab.start(stack, lab.gives(1)).answers[0]?.kind).toBe("rejected");
  });

  it("cannot be resized by hand, nor given nonsense", () => {
    const lab = new Lab();
    expect(() => new Bulkhead({ limit: aimd() }, lab.runtime).resize(5)).toThrow("limit is 5");
    expect(() => new Bulkhead({ limit: aimd({ cut: 2 }) }, lab.runtime)).toThrow("bulkhead.limit.cut");
    expect(() => new Bulkhead({ limit: null as never }, lab.runtime)).toThrow("bulkhead.limit");
  });
});

it("lets a waiter in as soon as the limit has grown, although the place of the answer is still held", () => {
  const lab = new Lab();
  const limit = aimd({ initial: 1, max: 2 });
  const cap = new Bulkhead({ limit, queue: { maxWaiting: 5, maxWaitMs: 1_000 } }, lab.runtime);
  const stack = lab.stack([bulkhead(cap)]);
  lab.start(stack, (attempt) => {
    attempt.hold(); // its body is being read
    lab.runtime.after(10, () => attempt.succeed("head"));
  });
  const waiting = lab.start(stack, lab.gives("second", 5));
  lab.runtime.advance(10);
  expect([cap.gate.limit, cap.gate.held, cap.waiting]).toEqual([2, 2, 0]);
  lab.runtime.advance(5);
  expect(waiting.answers[0]?.kind).toBe("ok");
});

describe("a bulkhead that counts bytes", () => {
  const made = (maxBytes: number, maxWaiting = 10) => {
    const lab = new Lab();
    const cap = new Bulkhead({ limit: 100, maxBytes, queue: { maxWaiting } }, lab.runtime);
    const stack = lab.stack([bulkhead(cap)]);
    const send = (bytes: number, ms: number) =>
      lab.start(stack, lab.gives(bytes, ms), { fields: { ...PLAIN_CALL, bytes } });
    return { lab, cap, send };
  };

  it("lets in what fits, and makes the rest wait in order", () => {
    const { lab, cap, send } = made(100);
    const calls = [send(60, 10), send(60, 10), send(10, 10)];
    expect([cap.inFlightBytes, cap.waiting]).toEqual([60, 2]);
    lab.runtime.advance(10);
    expect([cap.inFlightBytes, cap.waiting]).toEqual([70, 0]);
    lab.runtime.runToIdle();
    expect(calls.map((call) => call.answeredAt)).toEqual([10, 20, 20]);
    expect([cap.inFlightBytes, cap.gate.held]).toEqual([0, 0]);
  });

  it("keeps one waiting whose bytes have no room yet, when a smaller one has ended", () => {
    const { lab, cap, send } = made(100);
    send(60, 20);
    send(20, 10);
    const waiting = send(50, 10);
    lab.runtime.advance(10);
    expect([waiting.answers, cap.waiting, cap.inFlightBytes]).toEqual([[], 1, 60]);
    lab.runtime.runToIdle();
    expect([waiting.answers[0]?.kind, waiting.answeredAt]).toEqual(["ok", 30]);
  });

  it("lets the next in when a larger one in front of it gives up", () => {
    const { lab, cap, send } = made(100);
    send(60, 1_000);
    const large = send(90, 10);
    const small = send(30, 10);
    expect(cap.waiting).toBe(2);
    large.process.cancel("gone");
    lab.runtime.advance(10);
    expect([small.answers[0]?.kind, cap.waiting, cap.inFlightBytes]).toEqual(["ok", 0, 60]);
  });

  it("refuses at once what could never fit", () => {
    const { send } = made(100);
    expect(send(101, 1).answers[0]).toMatchObject({
      kind: "rejected",
      by: "bulkhead",
      reason: "larger than all places together",
    });
  });

  it("refuses nonsense by name", () => {
    const lab = new Lab();
    for (const maxBytes of [-1, Number.NaN, "9"]) {
      expect(() => new Bulkhead({ limit: 1, maxBytes: maxBytes as never }, lab.runtime)).toThrow(
        "bulkhead.maxBytes",
      );
    }
  });
});
