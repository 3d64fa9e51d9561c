// How every script here starts another program, and where the repo is.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The root of the repo, with no slash at its end. */
export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");

/** The path of a tool's script in node_modules, to be run by Node: no shell, the same on every system. */
const tools = {
  tsc: "typescript/bin/tsc",
  vitest: "vitest/vitest.mjs",
  biome: "@biomejs/biome/bin/biome",
  knip: "knip/bin/knip.js",
};

/**
 * The arguments to Node that run one of the tools.
 * @param {keyof typeof tools} name
 * @param {string[]} args
 */
export const tool = (name, ...args) => [`${root}/node_modules/${tools[name]}`, ...args];

/**
 * Where a program's input and its two outputs go: "stderr" keeps our own stdout clean, "capture" collects both. "tied"
 * is for one that must not outlive us, and cleans up after itself: it hears of our end, gets our signals, and we wait.
 * @type {Record<"inherit" | "stderr" | "capture" | "tied", import("node:child_process").StdioOptions>}
 */
const streams = {
  inherit: "inherit",
  stderr: ["inherit", 2, 2],
  capture: ["ignore", "pipe", "pipe"],
  tied: ["inherit", "inherit", "inherit", "ipc"],
};

const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/**
 * Runs a program to its end, in the root of the repo.
 * @param {string} command
 * @param {string[]} args
 * @param {{ output?: keyof typeof streams, env?: Record<string, string> }} [options]
 * @returns {Promise<{ code: number, text: string }>}
 */
export function run(command, args, { output = "inherit", env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: streams[output],
      env: { ...process.env, ...env },
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
    }
    const pass = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
    if (output === "tied") for (const signal of SIGNALS) process.on(signal, pass);
    child.on("error", reject);
    child.on("close", (code) => {
      for (const signal of SIGNALS) process.off(signal, pass);
      resolve({ code: code ?? 1, text });
    });
  });
}

/**
 * Runs a script or tool with this same Node.
 * @param {string[]} args
 * @param {Parameters<typeof run>[2]} [options]
 */
export const runNode = (args, options) => run(process.execPath, args, options);
