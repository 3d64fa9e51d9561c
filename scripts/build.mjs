// `npm run build [-- --force]`: compiles what changed (`tsc -b`), or everything, then writes the files that are made
// from built code, and the reference of all options, which is made from their docstrings.
import { existsSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { reference } from "./lib/options.mjs";
import { root, runNode, tool } from "./lib/run.mjs";

/**
 * Files made from built code: `module` exports `json`, which is written to `file`.
 * A module that is not written yet is passed over.
 */
const generated = [
  { module: "dist/system/json-schema.js", json: "jsonSchema", file: "dist/system/system.schema.json" },
];

async function generate() {
  for (const { module, json, file } of generated) {
    const path = `${root}/${module}`;
    if (!existsSync(path)) continue;
    const made = (await import(pathToFileURL(path).href))[json];
    const value = typeof made === "function" ? made() : made;
    write(file, value);
  }
  write("dist/reference.json", reference(`${root}/`));
}

/**
 * @param {string} file
 * @param {unknown} value
 */
function write(file, value) {
  writeFileSync(`${root}/${file}`, `${JSON.stringify(value, null, 2)}\n`);
}

const { code } = await runNode(tool("tsc", "-b", ...process.argv.slice(2)));
if (code === 0) await generate();
process.exitCode = code;
