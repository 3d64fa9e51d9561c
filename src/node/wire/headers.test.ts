import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeIdempotencyKey, encodeTenant, parseCriticality, parseTenant } from "./headers.ts";

it("names the four levels, and nothing else", () => {
  for (const level of ["criticalPlus", "critical", "sheddablePlus", "sheddable"]) {
    expect(parseCriticality(level)).toBe(level);
  }
  for (const other of [undefined, "", "CRITICAL", "critical, sheddable", "constructor"]) {
    expect(parseCriticality(other)).toBeUndefined();
  }
});

it("carries any tenant as visible ASCII", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }), (tenant) => {
      expect(encodeTenant(tenant)).toMatch(/^[!-~]+$/);
      if (encodeTenant(tenant).length <= 256) expect(parseTenant(encodeTenant(tenant))).toBe(tenant);
    }),
  );
});

it.each([undefined, "", "a,b", "a, b", "%", "%zz", "a b", "x".repeat(257)])(
  "reads no tenant in %j",
  (value) => {
    expect(parseTenant(value)).toBeUndefined();
  },
);

it.each([
  ["8e03978e-40d5", '"8e03978e-40d5"', "8e03978e-40d5"],
  ['a"b\\c', '"a\\"b\\\\c"', 'a"b\\c'],
  ["with space", '"with space"', "with space"],
])("spells the key %j both ways", (key, quoted, bare) => {
  expect(encodeIdempotencyKey(key, "quoted")).toBe(quoted);
  expect(encodeIdempotencyKey(key, "bare")).toBe(bare);
});

it.each(["", " a", "a ", "é", "a\nb", "\u0000"])("refuses %j as a key", (key) => {
  expect(() => encodeIdempotencyKey(key, "quoted")).toThrow(TypeError);
  expect(() => encodeIdempotencyKey(key, "bare")).toThrow(TypeError);
});
