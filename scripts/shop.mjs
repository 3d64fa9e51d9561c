// `npm run shop -- [arguments]`: sets the repo up when it has to, then runs the real shop once. `--help` says with what.
import { runNode } from "./lib/run.mjs";
import { fail, setup } from "./setup.mjs";

await setup().catch(fail);
const { code } = await runNode(["shop/dist/shop.js", ...process.argv.slice(2)], { output: "tied" });
process.exitCode = code;
