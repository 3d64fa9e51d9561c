// `npm start`: sets the repo up when it has to, then does the main job. Arguments are passed on:
// `npm start -s -- --json` prints nothing but the program's JSON on stdout.
import { runNode } from "./lib/run.mjs";
import { fail, setup } from "./setup.mjs";

/** The main job: an outage, replayed and then for real. */
const main = ["shop/dist/main.js"];

await setup().catch(fail);
const { code } = await runNode([...main, ...process.argv.slice(2)], { output: "tied" });
process.exitCode = code;
