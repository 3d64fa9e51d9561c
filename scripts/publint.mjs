// Checks package.json against the files that would be published, with publint, for each published package.
// An entry whose source is not written yet is planned, not broken: its missing files are passed over, except with
// `--release`, before publishing.
import { readFileSync } from "node:fs";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { entries } from "./lib/entries.mjs";
import { root } from "./lib/run.mjs";

const planned = new Set(
  entries()
    .filter((entry) => !entry.exists && !process.argv.includes("--release"))
    .map((entry) => entry.subpath),
);
if (planned.has("./system")) planned.add("./system.schema.json");

let found = 0;
for (const folder of [".", "cli"]) {
  const pkgDir = `${root}/${folder}`;
  const pkg = JSON.parse(readFileSync(`${pkgDir}/package.json`, "utf8"));
  const { messages } = await publint({ pkgDir, strict: true, pack: "npm" });
  for (const message of messages) {
    const missing =
      message.code === "FILE_DOES_NOT_EXIST" || message.code === "EXPORTS_GLOB_NO_MATCHED_FILES";
    if (folder === "." && missing && planned.has(message.path[1] ?? "")) continue;
    found++;
    console.error(`${pkg.name}: ${message.type}: ${formatMessage(message, pkg)}`);
  }
}
process.exitCode = found > 0 ? 1 : 0;
