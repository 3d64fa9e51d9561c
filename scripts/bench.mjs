// `npm run bench -- NAME [--json]`: builds, then runs bench/NAME.bench.ts from bench/dist. Never part of the tests.
import { existsSync, readdirSync } from "node:fs";
import { root, runNode } from "./lib/run.mjs";
import { fail, setup } from "./setup.mjs";

const [name, ...args] = process.argv.slice(2);
const suffix = ".bench.ts";
if (!name || !existsSync(`${root}/bench/${name}${suffix}`)) {
  const names = readdirSync(`${root}/bench`)
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length));
  console.error(name ? `There is no bench/${name}${suffix}.` : "Usage: npm run bench -- NAME [--json]");
  console.error(names.length > 0 ? `Benchmarks: ${names.join(", ")}` : "There are no benchmarks yet.");
  process.exit(2);
}

await setup().catch(fail);
const { code } = await runNode(["--expose-gc", `bench/dist/${name}.bench.js`, ...args]);
process.exitCode = code;
