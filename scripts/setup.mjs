// From a fresh clone to a built repo: installs when node_modules is not what the lock file says, then builds.
// All chatter goes to stderr, so that a command that prints JSON can set up first.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { root, run, runNode } from "./lib/run.mjs";

/** @typedef {{ version?: string, link?: boolean, optional?: boolean, devOptional?: boolean }} Locked */

/**
 * @param {string} path
 * @returns {Record<string, Locked> | undefined}
 */
function lockedPackages(path) {
  try {
    return JSON.parse(readFileSync(`${root}/${path}`, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** Whether what npm put into node_modules (it writes that down) is what the lock file asks for. */
function installed() {
  const wanted = lockedPackages("package-lock.json");
  const found = lockedPackages("node_modules/.package-lock.json");
  if (!wanted || !found) return false;
  return Object.entries(wanted).every(([path, { version, link, optional, devOptional }]) => {
    if (!path.includes("node_modules/")) return true;
    const there = found[path];
    if (!there) return optional === true || devOptional === true; // made for another system
    return there.version === version && there.link === link;
  });
}

/** Installs what is missing. Throws when that fails. */
export async function install() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Error(`Plimsoll needs Node 20.19 or later; this is ${process.versions.node}.`);
  }
  if (installed()) return;
  console.error("Installing what package-lock.json lists (once)…");
  const npm = process.env.npm_execpath;
  const args = ["ci", "--no-audit", "--no-fund"];
  const { code } = npm
    ? await runNode([npm, ...args], { output: "stderr" })
    : await run("npm", args, { output: "stderr" });
  if (code !== 0) throw new Error("npm ci failed; what it printed is above.");
}

/** Installs and builds what is missing or stale. Throws when either fails. */
export async function setup() {
  await install();
  const { code } = await runNode(["scripts/build.mjs"], { output: "stderr" });
  if (code !== 0) throw new Error("The build failed; what it printed is above.");
}

/**
 * Ends a script with a plain sentence instead of a stack.
 * @param {unknown} error
 */
export function fail(error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await setup().catch(fail);
