// Sources as one file of plain JavaScript, to be run by a process of its own on any Node, with or without a change
// made to them on the way.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type Plugin } from "vite";
import { root } from "./repo.ts";

/** A change to the text of one file, whose path is from the root of the repo. */
export interface Patch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const ENTRY = "\0entry.ts";

/** Hands out `text` as the entry, with "~/" for the root of the repo. */
const entryFrom = (text: string): Plugin => ({
  name: "entry",
  enforce: "pre",
  resolveId: (_id, importer) => (importer === undefined ? ENTRY : undefined),
  load: (id) => (id === ENTRY ? text.replaceAll('"~/', `"${root}`) : undefined),
});

const patched = (patches: readonly Patch[]): Plugin => ({
  name: "patch",
  enforce: "pre",
  transform(code, id) {
    const here = patches.filter(({ file }) => id === `${root}${file}`);
    return here.reduce((text, { find, replace }) => text.replace(find, () => replace), code);
  },
});

/** Bundles a module given as text, and what it imports from the repo ("~/src/…"). */
export async function bundle(text: string, patches: readonly Patch[] = []): Promise<string> {
  const made = await build({
    configFile: false,
    root,
    logLevel: "error",
    plugins: [entryFrom(text), patched(patches)],
    build: { ssr: "entry.ts", write: false, minify: false, target: "es2022" },
  });
  const [result] = Array.isArray(made) ? made : [made];
  if (result === undefined || !("output" in result)) throw new Error("nothing was bundled");
  return result.output[0].code;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a module in a process of its own, to its end. */
export function runModule(
  code: string,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-"));
  const file = join(folder, "main.mjs");
  writeFileSync(file, code);
  return new Promise<Ran>((resolve, reject) => {
    const child = spawn(process.execPath, [...flags, file, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (status) => resolve({ code: status, stdout, stderr }));
  }).finally(() => rmSync(folder, { recursive: true, force: true }));
}

/** Bundles a module given as text, and runs it. */
export async function runSource(text: string, flags: readonly string[] = []): Promise<Ran> {
  return runModule(await bundle(text), [], flags);
}
