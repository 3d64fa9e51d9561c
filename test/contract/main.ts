// The fuzz as a program: `--seed`, `--calls`. Ends with 1 and the program when a law is broken: shrunk, or `--as-it-is`.
import { described, fuzz } from "./fuzz.ts";

function numberOf(name: string, byDefault: number): number {
  const at = process.argv.indexOf(`--${name}`);
  if (at < 0) return byDefault;
  const value = Number(process.argv[at + 1]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} takes a whole number`);
}

const seed = numberOf("seed", 1);
const calls = numberOf("calls", 1_000_000);
const startedAt = performance.now();
const { programs, calls: done, failure } = fuzz(seed, calls, { small: !process.argv.includes("--as-it-is") });
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
console.log(`${done} calls in ${programs} programs, from seed ${seed}, each by both drivers: ${seconds} s`);
if (failure !== null) {
  console.log(described(failure));
  process.exitCode = 1;
}
