#!/usr/bin/env node
import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  console.error("plimsoll: the command is not built yet. Run `npm run build` in the root of the repo.");
  process.exitCode = 1;
}
