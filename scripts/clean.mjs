// `npm run clean`: removes everything that a build made, so that nothing stale is packed.
import { rmSync } from "node:fs";
import { root } from "./lib/run.mjs";

for (const made of ["dist", "cli/dist", "bench/dist", "node_modules/.cache/plimsoll"]) {
  rmSync(`${root}/${made}`, { recursive: true, force: true });
}
