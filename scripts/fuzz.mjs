// `npm run fuzz -- --calls 1000000 --seed 7`: the contract's fuzz by hand, longer than in the tests, or one seed again.
import { bundle, runModule } from "./lib/bundle.mjs";
import { fail, install } from "./setup.mjs";

await install().catch(fail);
const code = await bundle('import "~/test/contract/main.ts";');
const { code: status } = await runModule(code, process.argv.slice(2), { show: true });
process.exitCode = status ?? 1;
