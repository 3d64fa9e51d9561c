import { expect, it } from "vitest";
import { Gate } from "./machine.ts";

it("counts places up to its limit", () => {
  const gate = new Gate(2);
  expect([gate.limit, gate.held, gate.free]).toEqual([2, 0, true]);
  gate.take();
  expect(gate.free).toBe(true);
  gate.take();
  expect([gate.held, gate.free]).toEqual([2, false]);
  gate.release();
  expect([gate.held, gate.free]).toEqual([1, true]);
});

it("has no free place until enough are given back after its limit was lowered", () => {
  const gate = new Gate(3);
  for (let i = 0; i < 3; i++) gate.take();
  gate.resize(1);
  for (const free of [false, false, true]) {
    gate.release();
    expect(gate.free).toBe(free);
  }
  expect(() => {
    gate.resize(0);
  }).toThrow(/limit is 0/);
});
