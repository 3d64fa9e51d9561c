import { describe, expect, it } from "vitest";
import { OptionError } from "./errors.ts";
import { checkFunction, checkKeys, checkMs, checkNumber, checkOneOf, orDefault } from "./options.ts";
import { MAX_TIMER_MS } from "./runtime.ts";

const messageOf = (check: () => unknown): string => {
  try {
    check();
  } catch (error) {
    expect(error).toBeInstanceOf(OptionError);
    return (error as OptionError).message;
  }
  return "accepted";
};

describe("options", () => {
  it("say the field, the value and what is allowed", () => {
    expect(messageOf(() => checkNumber("a.b", -1, {}))).toBe("a.b is -1; allowed: a number of at least 0");
    expect(messageOf(() => checkNumber("a", 0, { above: 0, max: 1 }))).toBe(
      "a is 0; allowed: a number above 0 and at most 1",
    );
    expect(messageOf(() => checkNumber("a", "5", { min: 1, integer: true, orInfinity: true }))).toBe(
      'a is "5"; allowed: a whole number of at least 1, or Infinity',
    );
    expect(messageOf(() => checkOneOf("a", "c", ["a", "b"]))).toBe('a is "c"; allowed: "a" or "b"');
    expect(messageOf(() => checkFunction("a", [1]))).toBe("a is an array; allowed: a function");
    expect(messageOf(() => checkKeys("a", { c: () => 1 }, ["b"]))).toBe(
      "a.c is a function; allowed: nothing (known here: b)",
    );
    for (const value of [null, [], 5, "x", undefined])
      expect(messageOf(() => checkKeys("a", value, []))).toMatch(/allowed: an object of options/);
  });

  it("take both ends of a range, unless the lower is excluded", () => {
    expect(checkNumber("a", 1, { min: 1, max: 2 })).toBe(1);
    expect(checkNumber("a", 2, { min: 1, max: 2 })).toBe(2);
    expect(checkMs("a", MAX_TIMER_MS)).toBe(MAX_TIMER_MS);
    expect(checkMs("a", Number.MIN_VALUE, { above: 0 })).toBe(Number.MIN_VALUE);
    expect(messageOf(() => checkMs("a", MAX_TIMER_MS + 1))).toMatch(/at most 2147483647/);
    expect(checkMs("a", Infinity, { orInfinity: true })).toBe(Infinity);
  });

  it("take a default only for what was left out", () => {
    expect([orDefault(undefined, 1), orDefault(0, 1), orDefault(null as never, 1)]).toEqual([1, 0, null]);
  });
});
