// Who may import whom.
import { isShipped, isTest, resolve, type SourceFile } from "../../lib/source.ts";
import { pageTakes, type Ring, rings } from "../house.ts";
import type { Rule, Violation } from "../rule.ts";

const within = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** The ring of a path below `src`: the longest one that holds it, or "" for a file at the top. */
function ringOf(path: string): string {
  const names = Object.keys(rings).filter((name) => name !== "" && within(path, name));
  return names.sort((a, b) => b.length - a.length)[0] ?? (path.includes("/") ? path.split("/")[0]! : "");
}

function mayTakePackage(ring: Ring | undefined, specifier: string): boolean {
  return (ring?.packages ?? []).some((allowed) =>
    typeof allowed === "string" ? within(specifier, allowed) : allowed.test(specifier),
  );
}

/** What is wrong with one import of a shipped file, if anything. */
function breach(from: string, specifier: string): string | undefined {
  const name = ringOf(from.slice("src/".length));
  const ring = rings[name];
  const where = name === "" ? "the entry" : name;
  if (ring === undefined)
    return `src/${name} is no ring of the house: add it to test/tidy/house.ts, with a reason`;
  const target = resolve(from, specifier);
  if (target === undefined) {
    if (mayTakePackage(ring, specifier)) return undefined;
    return `${where} may not import "${specifier}": only src/node meets the platform and its packages`;
  }
  if (!target.startsWith("src/")) return `${specifier} leaves src: what ships stands in src`;
  const other = ringOf(target.slice("src/".length));
  if (other === name || ring.takes.includes(other)) return undefined;
  const takes = ring.takes.length > 0 ? ring.takes.filter(Boolean).join(", ") : "nothing but itself";
  return `${where} may not import ${other || "the entry"} (it may take: ${takes}): move what both need into a ring that both may import, or pass it in`;
}

export const whoMayImportWhom: Rule = {
  name: "who may import whom",
  check: (files) =>
    files
      .filter((file) => isShipped(file.path))
      .flatMap((file) =>
        file.imports.flatMap(({ specifier, line }) => {
          const message = breach(file.path, specifier);
          return message === undefined ? [] : [{ path: file.path, line, message }];
        }),
      ),
  planted: [
    ["src/core/a.ts", 'import { x } from "../facade/b.ts";', /core may not import facade/],
    ["src/core/a.ts", 'export * from "../testing/b.ts";', /core may not import testing/],
    ["src/core/a.ts", 'import type { T } from "../system/b.ts";', /core may not import system/],
    ["src/core/a.ts", 'type T = import("../sim/b.ts").T;', /core may not import sim/],
    ["src/core/a.ts", 'import { readFile } from "node:fs";', /core may not import "node:fs"/],
    ["src/core/a.ts", 'import { z } from "zod";', /core may not import "zod"/],
    ["src/facade/a.ts", 'import { x } from "../node/b.ts";', /facade may not import node/],
    ["src/facade/a.ts", 'import { x } from "node:async_hooks";', /facade may not import "node:async_hooks"/],
    ["src/system/a.ts", 'import { x } from "../analysis/b.ts";', /system may not import analysis/],
    ["src/analysis/a.ts", 'import { x } from "../sim/b.ts";', /analysis may not import sim/],
    ["src/testing/a.ts", 'import { x } from "../facade/b.ts";', /testing may not import facade/],
    ["src/sim/a.ts", 'import { x } from "../node/b.ts";', /sim may not import node/],
    ["src/sim/a.ts", 'const x = import("../facade/b.ts");', /sim may not import facade/],
    ["src/node/a.ts", 'import { x } from "../sim/b.ts";', /node may not import sim/],
    ["src/node/fetch/a.ts", 'import { x } from "../../testing/b.ts";', /node may not import testing/],
    ["src/node/testing/a.ts", 'import { x } from "../../sim/b.ts";', /node\/testing may not import sim/],
    ["src/index.ts", 'export * from "./node/b.ts";', /the entry may not import node/],
    ["src/shed/a.ts", 'import { x } from "../core/b.ts";', /no ring of the house/],
    ["src/core/a.ts", 'import { x } from "../../test/lib/b.ts";', /leaves src/],
  ].map(([path, text, says]) => ({ files: { [path as string]: text as string }, says: says as RegExp })),
  clean: {
    "src/core/retry/guard.ts": 'import { Backoff } from "../backoff/machine.ts";\nimport "../runtime.ts";',
    "src/facade/a.ts": 'import { x } from "../core/b.ts"; // never from "../node/b.ts"',
    "src/system/load.ts": 'import { z } from "zod";\nconst text = \'import x from "../sim/b.ts"\';',
    "src/sim/a.ts": 'import { x } from "../testing/b.ts";\nimport { y } from "../system/b.ts";',
    "src/node/fetch/index.ts": 'import { x } from "../../facade/b.ts";\nimport { y } from "node:timers";',
    "src/node/testing/relay.ts": 'import { x } from "../../testing/b.ts";',
    "src/index.node.ts": 'export * from "./index.ts";\nimport "./node/runtime.ts";',
    "src/core/retry/guard.test.ts": 'import { x } from "../../testing/b.ts";\nimport "node:fs";',
  },
};

const guardOf = /^src\/core\/([^/]+)\/guard\.ts$/;

/** The files that an import brings names from: its target, and whatever that hands on. */
function sourcesOf(target: string, files: ReadonlyMap<string, SourceFile>, seen: Set<string>): Set<string> {
  if (seen.has(target)) return seen;
  seen.add(target);
  for (const { specifier, passesOn } of files.get(target)?.imports ?? []) {
    const next = passesOn ? resolve(target, specifier) : undefined;
    if (next !== undefined) sourcesOf(next, files, seen);
  }
  return seen;
}

export const guardsApart: Rule = {
  name: "a guard may use the machines of another folder, never another guard",
  check(files) {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const found: Violation[] = [];
    for (const { path, imports } of files) {
      const folder = /^src\/core\/([^/]+)\/[^/]+$/.exec(path)?.[1];
      if (folder === undefined || !isShipped(path)) continue;
      for (const { specifier, line } of imports) {
        const target = resolve(path, specifier);
        const sources = target === undefined ? [] : [...sourcesOf(target, byPath, new Set())];
        const guard = sources.find((source) => (guardOf.exec(source)?.[1] ?? folder) !== folder);
        if (guard === undefined) continue;
        const message = `${specifier} brings in the guard ${guard}: share its machine, and let the stack put guards together`;
        found.push({ path, line, message });
      }
    }
    return found;
  },
  planted: [
    {
      files: { "src/core/hedge/guard.ts": 'import { retry } from "../retry/guard.ts";' },
      says: /retry\/guard\.ts/,
    },
    {
      files: {
        "src/core/hedge/guard.ts": 'import { retry } from "../retry/index.ts";',
        "src/core/retry/index.ts": 'export * from "./guard.ts";',
      },
      says: /brings in the guard src\/core\/retry\/guard\.ts/,
    },
  ],
  clean: {
    "src/core/hedge/guard.ts": 'import { RetryBudget } from "../budget/machine.ts";\nimport "./delay.ts";',
    "src/core/stack.ts":
      'import { retry } from "./retry/guard.ts";\nimport { hedge } from "./hedge/guard.ts";',
    "src/core/retry/index.ts": 'export * from "./guard.ts";',
  },
};

const workspaces = ["cli", "shop", "web", "bench"];

export const packagesApart: Rule = {
  name: "a workspace meets the library by its name",
  check: (files) =>
    files.flatMap((file) => {
      const home = workspaces.find((name) => within(file.path, name));
      if (home === undefined) return [];
      return file.imports.flatMap(({ specifier, line }) => {
        const target = resolve(file.path, specifier);
        if (target !== undefined && !within(target, home)) {
          return [
            {
              path: file.path,
              line,
              message: `${specifier} leaves ${home}/: import "plimsoll" or one of its entries`,
            },
          ];
        }
        const foreign = home === "web" && within(specifier, "plimsoll") && !pageTakes.includes(specifier);
        if (!foreign || isTest(file.path)) return [];
        return [
          { path: file.path, line, message: `the page may not import "${specifier}": it runs in a browser` },
        ];
      });
    }),
  planted: [
    { files: { "cli/src/a.ts": 'import { x } from "../../src/core/b.ts";' }, says: /leaves cli\// },
    { files: { "bench/a.bench.ts": 'import { x } from "../src/core/b.ts";' }, says: /leaves bench\// },
    {
      files: { "web/src/a.ts": 'import { x } from "plimsoll/http";' },
      says: /may not import "plimsoll\/http"/,
    },
  ],
  clean: {
    "cli/src/a.ts": 'import { x } from "plimsoll/http";\nimport { y } from "./b.ts";',
    "web/src/a.ts": 'import { x } from "plimsoll/sim";\nimport { y } from "preact";',
  },
};

export const importsNameFiles: Rule = {
  name: "a relative import names the file that is there",
  check: (files) =>
    files
      .filter((file) => /\.tsx?$/.test(file.path))
      .flatMap((file) =>
        file.imports
          .filter(({ specifier }) => specifier.startsWith(".") && !/\.(?:tsx?|mjs|json|css)$/.test(specifier))
          .map(({ specifier, line }) => ({
            path: file.path,
            line,
            message: `"${specifier}" must end in .ts: Node runs the sources as they are, and the build rewrites the ending`,
          })),
      ),
  planted: [
    { files: { "src/core/a.ts": 'import { x } from "./b.js";' }, says: /"\.\/b\.js" must end in \.ts/ },
    { files: { "src/core/a.ts": 'export * from "./b";' }, says: /"\.\/b" must end in \.ts/ },
  ],
  clean: { "src/core/a.ts": 'import { x } from "./b.ts";\nimport { y } from "node:fs";' },
};
