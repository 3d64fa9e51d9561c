// The files of this repo, as a list the rules can take.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type SourceFile, sourceFile } from "./source.ts";

export const root: string = fileURLToPath(new URL("../..", import.meta.url));

const made = new Set(["node_modules", "dist", "coverage", ".git", ".matrix"]);
const textual = /\.(?:ts|tsx|mts|js|mjs|json|md|html|css|ya?ml|toml|sh|txt)$|^(?:LICENSE|run|\.[a-z]+)$/;

function* walk(folder: string): Generator<string> {
  for (const entry of readdirSync(root + folder, { withFileTypes: true })) {
    if (made.has(entry.name)) continue;
    if (entry.isDirectory()) yield* walk(`${folder}${entry.name}/`);
    else if (entry.isFile() && textual.test(entry.name)) yield folder + entry.name;
  }
}

/** Every text file that is written by hand, or committed. */
export function readRepo(): SourceFile[] {
  return [...walk("")].sort().map((path) => sourceFile(path, readFileSync(root + path, "utf8")));
}
