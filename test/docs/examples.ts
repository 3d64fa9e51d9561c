// The code blocks of the pages, written out so that the compiler and the suite can take them.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { entries } from "../../scripts/lib/entries.mjs";
import { root } from "../lib/repo.ts";
import type { Block, Page } from "./markdown.ts";

/** A folder for each run, so that two of them do not meet. */
const folder = `${root}docs/dist/${process.pid}`;

/** A block as a module. */
export interface Example {
  readonly block: Block;
  /** `docs/guide/README.md:12`. */
  readonly title: string;
  /** Where it stands with its imports as printed, for the compiler; and with the sources instead, to be run. */
  readonly checked: string;
  readonly run: string;
}

/** The entry of the sources behind each name that users import. Node's entry stands for the whole package. */
const sources: ReadonlyMap<string, string> = new Map(
  entries()
    .filter(({ name, exists }) => exists && name !== "index")
    .map(({ subpath, source }) => [subpath.replace(".", "plimsoll"), `${root}${source}`]),
);

/** Writes the TypeScript of the pages. */
export function writeExamples(pages: readonly Page[]): Example[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const paths = Object.fromEntries([...sources].map(([name, path]) => [name, [path]]));
  const compilerOptions = {
    allowJs: false,
    checkJs: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    paths,
  };
  const project = {
    extends: "../../../tsconfig.test.json",
    compilerOptions,
    include: ["*.check.ts"],
    exclude: [],
  };
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(project));
  return pages.flatMap(({ blocks }) =>
    blocks.filter(({ info }) => /^ts(?! no-check)\b/.test(info)).map(write),
  );
}

function write(block: Block): Example {
  const title = `${block.page}:${block.line}`;
  const base = `${folder}/${title.replace(/\W+/g, "-")}`;
  const example = { block, title, checked: `${base}.check.ts`, run: `${base}.run.ts` };
  writeFileSync(example.checked, `${block.code}\nexport {};\n`);
  const code = block.code.replace(
    /(from )"(plimsoll[^"]*)"/g,
    (_, from, name) => `${from}${JSON.stringify(sources.get(name) ?? name)}`,
  );
  writeFileSync(example.run, `${code}\nexport {};\n`);
  return example;
}

/** What the compiler says of them, by the lines of their pages. */
export function compileErrors(examples: readonly Example[]): string[] {
  const tsc = `${root}node_modules/typescript/bin/tsc`;
  const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", folder, "--pretty", "false"], {
    cwd: root,
    encoding: "utf8",
  });
  const errors = stdout.split("\n").filter((line) => /error TS\d+/.test(line));
  if (status !== 0 && errors.length === 0) return [`tsc ended with ${status}: ${stdout}`];
  return errors.map((error) => {
    const [, file = "", line = "0", what = ""] = /([^/\\]+)\((\d+),\d+\): (.*)/.exec(error) ?? [];
    const example = examples.find(({ checked }) => checked.endsWith(`/${file}`));
    return example === undefined
      ? error
      : `${example.block.page}:${example.block.line + Number(line)}: ${what}`;
  });
}

/** Removes what was written. */
export function removeExamples(): void {
  rmSync(folder, { recursive: true, force: true });
}
