import { describe, expect, it } from "vitest";
import { type Random, SeededRandom } from "../random.ts";
import { awsBackoff, Backoff, type BackoffSpec, envoyBackoff, grpcBackoff, spread } from "./machine.ts";

const always = (value: number): Random => ({ next: () => value, fork: () => always(value) });

/** 20,000 waits before repeat `repeat`: the least, the mean and the most. */
function spreadOf(spec: BackoffSpec, repeat: number, throttled = false) {
  const backoff = new Backoff(spec);
  const random = new SeededRandom(11).fork("waits");
  const waits = Array.from({ length: 20_000 }, () =>
    backoff.delayMs(repeat, 0, random, { throttled, hintMs: null }),
  );
  const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
  return { least: Math.min(...waits), mean, most: Math.max(...waits), waits };
}

/** Whether values spread evenly over [from, to): each tenth of it holds a tenth of them, within a tenth of that. */
function even(values: readonly number[], from: number, to: number): boolean {
  const tenths = new Array<number>(10).fill(0);
  for (const value of values) {
    const at = Math.floor(((value - from) / (to - from)) * 10);
    if (at < 0 || at > 9) return false;
    tenths[at] = (tenths[at] as number) + 1;
  }
  return tenths.every((count) => Math.abs(count - values.length / 10) < values.length / 100);
}

describe("gRPC's backoff (A6)", () => {
  const spec = grpcBackoff({ initialBackoffMs: 300, maxBackoffMs: 1_000, backoffMultiplier: 2 });

  it.each([
    [1, 240, 360],
    [2, 480, 720],
    [3, 800, 1_200], // the jitter comes after the cap
    [9, 800, 1_200],
  ])("spreads repeat %i evenly over %i to %i ms", (repeat, from, to) => {
    expect(even(spreadOf(spec, repeat).waits, from, to)).toBe(true);
  });

  it("needs the numbers of a service config", () => {
    expect(
      () => new Backoff(grpcBackoff({ initialBackoffMs: 0, maxBackoffMs: 9, backoffMultiplier: 2 })),
    ).toThrow("grpcBackoff.initialBackoffMs");
    expect(() => grpcBackoff({ initialBackoffMs: 100, maxBackoffMs: 1_000 } as never)).toThrow(
      "grpcBackoff.backoffMultiplier",
    );
    expect(() => grpcBackoff({ initialBackoffMs: 100, maxBackoffMs: 99, backoffMultiplier: 1 })).toThrow(
      "grpcBackoff.maxBackoffMs",
    );
    expect(() => new Backoff(spread({ jitter: 1.1 }))).toThrow("backoff.jitter is 1.1");
  });
});

describe("Envoy's backoff", () => {
  it.each([
    [1, 25],
    [2, 75],
    [3, 175],
    [4, 250], // ten times the base
    [9, 250],
  ])("spreads repeat %i evenly over 0 to %i ms", (repeat, to) => {
    expect(even(spreadOf(envoyBackoff(), repeat).waits, 0, to)).toBe(true);
  });
});

describe("the AWS SDKs' backoff (2.1)", () => {
  it("has botocore's ceilings", () => {
    const backoff = new Backoff(awsBackoff());
    const ceilings = Array.from({ length: 11 }, (_, i) => backoff.delayMs(i + 1, 0, always(1)));
    expect(ceilings).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 20_000, 20_000]);
  });

  it("begins at a second after throttling, and at 25 ms for DynamoDB", () => {
    expect(new Backoff(awsBackoff()).delayMs(1, 0, always(1), { throttled: true, hintMs: null })).toBe(1_000);
    expect(new Backoff(awsBackoff({ baseMs: 25 })).delayMs(1, 0, always(1))).toBe(25);
    expect(
      new Backoff(awsBackoff({ baseMs: 25 })).delayMs(1, 0, always(1), { throttled: true, hintMs: null }),
    ).toBe(1_000);
  });

  it("is full jitter in whole ms", () => {
    const { waits, least, most } = spreadOf(awsBackoff(), 3);
    expect(waits.every(Number.isInteger)).toBe(true);
    expect([least, most]).toEqual([0, 199]);
    expect(even(waits, 0, 200)).toBe(true);
  });

  it.each([
    [1_500, 1_500],
    [0, 50],
    [10_000, 5_050],
    [null, 50],
  ])("takes a hint of %s within 5 s of its own wait: %i", (hintMs, waits) => {
    expect(new Backoff(awsBackoff()).delayMs(1, 0, always(1), { throttled: false, hintMs })).toBe(waits);
  });
});
