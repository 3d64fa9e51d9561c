// The entries of the package, read from the `exports` of package.json: the one list of what is public.
import { existsSync, readFileSync } from "node:fs";
import { root } from "./run.mjs";

/**
 * @typedef {object} Entry
 * @property {string} subpath    as in `exports`: "." or "./fetch"
 * @property {string} name       for files and messages: "index", "index.node", "fetch"
 * @property {string} source     path of its source file, from the root
 * @property {string} types      path of its built declarations, from the root
 * @property {boolean} exists    whether its source is written; an entry that is only planned is skipped by the checks
 */

/** @typedef {string | { [condition: string]: Target }} Target */

/**
 * Every `types` path among the conditions of a target.
 * @param {Target} target
 * @returns {string[]}
 */
const typesOf = (target) =>
  typeof target === "string"
    ? []
    : Object.entries(target).flatMap(([condition, inner]) =>
        condition === "types" && typeof inner === "string" ? [inner] : typesOf(inner),
      );

/** @returns {Entry[]} */
export function entries() {
  /** @type {{ exports: Record<string, Target> }} */
  const manifest = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
  return Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typesOf(target).map((path) => {
      const types = path.replace("./", "");
      const source = types.replace(/^dist\//, "src/").replace(/\.d\.ts$/, ".ts");
      const name =
        subpath === "." ? types.replace(/^dist\/|\.d\.ts$/g, "") : subpath.slice(2).replaceAll("/", ".");
      return { subpath, name, source, types, exists: existsSync(`${root}/${source}`) };
    }),
  );
}
