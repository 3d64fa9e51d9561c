/**
 * The speed of a replay: fired events a second with real guards (a healthy minute of `guarded`), beside the same
 * offered load in plain callbacks on the same event queue, and nine settings of 30 s one after another. Both worlds
 * take turns, so that what else the machine does hits both. Wanted: a third of the plain speed; under 4 s.
 */
import { loadavg } from "node:os";
import { replayBasketly } from "plimsoll/sim";
import { plainBasketly } from "./plain-basketly.ts";

const ROUNDS = 7;
const NINE = ["C0", "C1", "C2", "C3", "C4", "13a", "C0-cap40", "C0-cap60", "guarded"];

/** No collection is forced in between: V8 drops compiled code when no object of its hidden classes is left alive. */
function timed<T>(run: () => T): { value: T; ms: number } {
  const start = performance.now();
  const value = run();
  return { value, ms: performance.now() - start };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function compare() {
  const plain: number[] = [];
  const guarded: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const without = timed(() => plainBasketly(60_000, 1));
    const minute = { setting: "guarded", untilS: 45, overrides: { "hiccup.factor": 1 } };
    const withGuards = timed(() => replayBasketly(minute));
    if (round === 0) continue; // warming up
    plain.push(without.value.fired / without.ms / 1000);
    guarded.push(withGuards.value.fired / withGuards.ms / 1000);
  }
  return {
    plain: { best: Math.max(...plain), median: median(plain) },
    guarded: { best: Math.max(...guarded), median: median(guarded) },
    ratio: median(guarded.map((speed, index) => speed / (plain[index] as number))),
  };
}

function nine() {
  return NINE.map((setting) => ({ setting, ms: timed(() => replayBasketly({ setting })).ms }));
}

const speeds = compare();
const settings = nine();
const totalMs = settings.reduce((sum, { ms }) => sum + ms, 0);
const load = loadavg()[0] ?? 0;

if (process.argv.includes("--json")) console.log(JSON.stringify({ ...speeds, settings, totalMs, load }));
else {
  const millions = (speed: number) => `${speed.toFixed(2)} M`;
  console.log("fired events a second             median      best");
  console.log(
    `  plain callbacks, no guards    ${millions(speeds.plain.median)}    ${millions(speeds.plain.best)}`,
  );
  console.log(
    `  real guards, healthy minute   ${millions(speeds.guarded.median)}    ${millions(speeds.guarded.best)}`,
  );
  console.log(`  guards / plain                ${speeds.ratio.toFixed(2)}      (wanted: 0.33)`);
  console.log("\nnine settings of 30 s, one process (wanted: under 4,000 ms)");
  for (const { setting, ms } of settings)
    console.log(`  ${setting.padEnd(12)}${ms.toFixed(0).padStart(8)} ms`);
  console.log(`  ${"all".padEnd(12)}${totalMs.toFixed(0).padStart(8)} ms`);
  console.log(`\nNode ${process.version}, load of the machine ${load.toFixed(2)}`);
}
