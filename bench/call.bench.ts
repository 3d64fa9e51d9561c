/**
 * `npm run bench -- call [--json] [--rounds N]`: what a call costs under Plimsoll's guards and under its peers', and what
 * many idle guards do.
 *
 * Every case runs in a process of its own, so that no library's types spoil another's code, and all of them several
 * times in turn. `bareNs` is one awaited async function. Compare ratios: the machine's speed is not ours to promise.
 */
import { spawn } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { CASES } from "./call/cases.ts";
import { type Idle, MANY, measureIdle } from "./call/idle.ts";
import { type Measurement, measure } from "./call/measure.ts";

interface Row {
  readonly subject: string;
  readonly kind: string;
  readonly guards: string;
  readonly minNs: number;
  readonly medianNs: number;
  readonly bytes: number;
}

/** The young generation is large from the start, so that no collection falls into the counting of bytes. */
const NODE_FLAGS = ["--expose-gc", "--max-semi-space-size=64", "--min-semi-space-size=64"];
const args = process.argv.slice(2);
const roundsAt = args.indexOf("--rounds");
const rounds = roundsAt < 0 ? 3 : Number(args[roundsAt + 1]);

if (args[0] === "case" || args[0] === "idle") {
  const index = Number(args[1]);
  const result =
    args[0] === "case"
      ? await measure(CASES[index] as (typeof CASES)[number])
      : await measureIdle(MANY[index] as (typeof MANY)[number]);
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
} else {
  await main();
}

async function main(): Promise<void> {
  const measured: Measurement[][] = CASES.map(() => []);
  for (let round = 1; round <= rounds; round++) {
    for (const [index, { subject, guards }] of CASES.entries()) {
      process.stderr.write(`round ${round} of ${rounds}: ${subject}, ${guards}\n`);
      (measured[index] as Measurement[]).push(await inOwnProcess<Measurement>("case", index));
    }
  }
  // The bare call is measured in every process. A minimum over all of them would be a minimum of many more samples
  // than any case has; so: the typical minimum of as many as a case has.
  const bareNs = median(measured.map((runs) => Math.min(...runs.map((run) => run.bareNs))));
  const bareFailureNs = median(measured.map((runs) => Math.min(...runs.map((run) => run.bareFailureNs))));
  const rows = CASES.map(({ subject, kind, guards }, index): Row => {
    const runs = measured[index] as Measurement[];
    return { subject, kind, guards, ...summary(runs) };
  });
  const idle: Idle[] = [];
  for (const index of MANY.keys()) idle.push(await inOwnProcess<Idle>("idle", index));
  if (args.includes("--json")) console.log(JSON.stringify({ bareNs, bareFailureNs, rows, idle }));
  else {
    print(bareNs, bareFailureNs, rows);
    printIdle(idle);
  }
}

function summary(runs: readonly Measurement[]): { minNs: number; medianNs: number; bytes: number } {
  return {
    minNs: round1(Math.min(...runs.map((run) => run.minNs))),
    medianNs: round1(median(runs.map((run) => run.medianNs))),
    bytes: median(runs.map((run) => run.bytes)),
  };
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] as number;
}

function inOwnProcess<R>(what: "case" | "idle", index: number): Promise<R> {
  const child = spawn(
    process.execPath,
    [...NODE_FLAGS, fileURLToPath(import.meta.url), what, String(index)],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(output));
      else reject(new Error(`${what} ${index} ended with code ${code}`));
    });
  });
}

function round1(value: number): number {
  return Math.round(value * 10) / 10;
}

function print(bareNs: number, bareFailureNs: number, rows: readonly Row[]): void {
  console.log(
    `bare awaited call ${bareNs.toFixed(0)} ns, bare failing call caught ${bareFailureNs.toFixed(0)} ns`,
  );
  console.log(
    `Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, ${rounds} rounds\n`,
  );
  console.log("subject    kind      min ns  median ns  x bare  bytes  guards");
  for (const { subject, kind, minNs, medianNs, bytes, guards } of rows) {
    const bare = kind === "failure" ? bareFailureNs : bareNs;
    const cells = [
      minNs.toFixed(0).padStart(7),
      medianNs.toFixed(0).padStart(10),
      (minNs / bare).toFixed(1).padStart(7),
    ];
    console.log(
      `${subject.padEnd(10)} ${kind.padEnd(8)} ${cells.join(" ")} ${String(bytes).padStart(6)}  ${guards}`,
    );
  }
}

function printIdle(idle: readonly Idle[]): void {
  console.log("\nsubject      count  bytes each  timers  idle use of a core  guards");
  for (const [index, { count, bytesEach, timers, idleShare }] of idle.entries()) {
    const { subject, guards } = MANY[index] as (typeof MANY)[number];
    const cells = [
      String(count).padStart(7),
      String(bytesEach).padStart(11),
      String(timers).padStart(7),
      `${(100 * idleShare).toFixed(1)} %`.padStart(19),
    ];
    console.log(`${subject.padEnd(10)} ${cells.join(" ")}  ${guards}`);
  }
}
