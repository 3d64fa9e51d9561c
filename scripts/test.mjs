// `npm test`: sets the repo up, then every gate and the whole suite. It goes on after a failure and ends with one
// line, `N passed, N failed`, where each gate counts as one and each test as one.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { root, runNode, tool } from "./lib/run.mjs";
import { fail, install } from "./setup.mjs";

/** @type {{ name: string, command: string[] }[]} */
const gates = [
  // Anew: an incremental build of TypeScript 7 keeps old answers when a global declaration or an option changes.
  { name: "build", command: ["scripts/build.mjs", "--force"] },
  { name: "types of the tests", command: tool("tsc", "-p", "tsconfig.test.json") },
  { name: "format and lint", command: tool("biome", "ci", "--colors=off") },
  { name: "unused and unlisted", command: tool("knip", "--no-progress", "--no-config-hints") },
  { name: "package manifests", command: ["scripts/publint.mjs"] },
];

const totals = { passed: 0, failed: 0 };

/**
 * Prints one line for a step, and what it said when it failed.
 * @param {string} name
 * @param {number} startedAt
 * @param {{ code: number, text: string }} result
 * @param {string} [note]
 */
function report(name, startedAt, { code, text }, note = "") {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok    " : "FAILED"}  ${name}${note} (${seconds} s)`);
  if (code !== 0) console.log(text.trimEnd());
}

async function runGate(/** @type {{ name: string, command: string[] }} */ { name, command }) {
  const startedAt = performance.now();
  const result = await runNode(command, { output: "capture" });
  totals[result.code === 0 ? "passed" : "failed"]++;
  report(name, startedAt, result);
}

/**
 * Counts from vitest's own report. A file that could not be loaded has no tests, and counts as one failure.
 * @param {string} path
 */
function counted(path) {
  /** @type {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, testResults: { status: string, assertionResults: { status: string }[] }[] }} */
  const report = JSON.parse(readFileSync(path, "utf8"));
  const broken = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed"),
  ).length;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken,
    skipped: report.numPendingTests,
  };
}

async function runSuite(/** @type {string[]} */ filters) {
  const startedAt = performance.now();
  const folder = `${root}/node_modules/.cache/plimsoll`;
  const path = `${folder}/vitest.json`;
  mkdirSync(folder, { recursive: true });
  rmSync(path, { force: true });
  const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${path}`, ...filters];
  const result = await runNode(tool("vitest", ...args), { output: "capture", env: { NO_COLOR: "1" } });
  let counts = { passed: 0, failed: 1, skipped: 0 };
  try {
    counts = counted(path);
  } catch {} // vitest itself did not get as far as a report: what it printed is shown
  if (result.code !== 0 && counts.failed === 0) counts.failed = 1; // an error outside any test
  totals.passed += counts.passed;
  totals.failed += counts.failed;
  const note = `: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
  report("tests", startedAt, { code: counts.failed, text: result.text }, note);
}

await install().catch(fail);
for (const gate of gates) await runGate(gate);
await runSuite(process.argv.slice(2));
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed > 0 ? 1 : 0;
