// The options of the sources, as the reference has them.
export { optionsIn, optionsOf, plain } from "../../scripts/lib/options.mjs";
