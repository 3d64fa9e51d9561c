// `npm run test:matrix [-- 22 26]`: the built suite under other versions of Node, each from the npm package `node`.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { root, run, tool } from "./lib/run.mjs";
import { fail, setup } from "./setup.mjs";

const majors = process.argv.length > 2 ? process.argv.slice(2) : ["22", "24", "26"];

/**
 * Installs one Node under .matrix, once, and gives its path.
 * @param {string} major
 */
async function nodeOf(major) {
  const folder = `${root}/.matrix/${major}`;
  const node = `${folder}/node_modules/node/bin/node`;
  if (existsSync(node)) return node;
  mkdirSync(folder, { recursive: true });
  // The package fetches the binary of this system in its install script, so that one script is allowed.
  const manifest = { private: true, dependencies: { node: major }, allowScripts: { node: true } };
  writeFileSync(`${folder}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
  const args = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", folder];
  const { code } = await run("npm", args, { output: "stderr" });
  if (code !== 0 || !existsSync(node)) throw new Error(`Node ${major} could not be installed.`);
  return node;
}

await setup().catch(fail);
/** @type {string[]} */
const failed = [];
for (const major of majors) {
  const node = await nodeOf(major).catch(fail);
  if (!node) continue;
  const { text } = await run(node, ["--version"], { output: "capture" });
  console.log(`\nNode ${text.trim()}`);
  const { code } = await run(node, tool("vitest", "run"));
  if (code !== 0) failed.push(major);
}
console.log(
  failed.length > 0 ? `\nFailed on Node ${failed.join(", ")}` : `\nPassed on Node ${majors.join(", ")}`,
);
process.exitCode = failed.length > 0 ? 1 : 0;
