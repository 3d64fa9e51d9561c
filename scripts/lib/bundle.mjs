// Sources as one file of plain JavaScript, to be run by a process of its own on any Node, with or without a change
// made to them on the way.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import { root } from "./run.mjs";

/** @typedef {{ readonly file: string, readonly find: string, readonly replace: string }} Patch a change to the text of one file, whose path is from the root of the repo */

const ENTRY = "\0entry.ts";

/**
 * Hands out `text` as the entry, with "~/" for the root of the repo.
 * @param {string} text
 * @returns {import("vite").Plugin}
 */
const entryFrom = (text) => ({
  name: "entry",
  enforce: "pre",
  resolveId: (_id, importer) => (importer === undefined ? ENTRY : undefined),
  load: (id) => (id === ENTRY ? text.replaceAll('"~/', `"${root}/`) : undefined),
});

/**
 * @param {readonly Patch[]} patches
 * @returns {import("vite").Plugin}
 */
const patched = (patches) => ({
  name: "patch",
  enforce: "pre",
  transform(code, id) {
    const here = patches.filter(({ file }) => id === `${root}/${file}`);
    return here.reduce((text, { find, replace }) => text.replace(find, () => replace), code);
  },
});

/**
 * Bundles a module given as text, and what it imports from the repo ("~/src/…").
 * @param {string} text
 * @param {readonly Patch[]} [patches]
 * @returns {Promise<string>}
 */
export async function bundle(text, patches = []) {
  const made = await build({
    configFile: false,
    root,
    logLevel: "error",
    plugins: [entryFrom(text), patched(patches)],
    build: {
      ssr: "entry.ts",
      write: false,
      minify: false,
      target: "es2022",
      // The package says that its sources do nothing when they are loaded; programs do.
      rolldownOptions: { treeshake: false },
    },
  });
  const [result] = Array.isArray(made) ? made : [made];
  if (result === undefined || !("output" in result)) throw new Error("nothing was bundled");
  return result.output[0].code;
}

/**
 * Runs a module in a process of its own, to its end. What it prints is collected, or shown as it comes.
 * @param {string} code
 * @param {readonly string[]} [args]
 * @param {{ flags?: readonly string[], show?: boolean }} [options]
 * @returns {Promise<{ code: number | null, stdout: string, stderr: string }>}
 */
export function runModule(code, args = [], { flags = [], show = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-"));
  const file = join(folder, "main.mjs");
  writeFileSync(file, code);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...flags, file, ...args], {
      stdio: show ? "inherit" : ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stdout?.setEncoding("utf8").on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr?.setEncoding("utf8").on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (status) => resolve({ code: status, stdout, stderr }));
  }).finally(() => rmSync(folder, { recursive: true, force: true }));
}

/**
 * Bundles a module given as text, and runs it.
 * @param {string} text
 * @param {readonly string[]} [flags]
 */
export async function runSource(text, flags = []) {
  return runModule(await bundle(text), [], { flags });
}
