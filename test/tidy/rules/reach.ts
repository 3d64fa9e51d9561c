// Nothing lies about that no entry, no test and no benchmark brings in.
import { isShipped, isTest, resolve, type SourceFile } from "../../lib/source.ts";
import type { Rule } from "../rule.ts";

/** `entries` are the paths of the sources behind the `exports` of package.json. */
export const reachable = (entries: readonly string[]): Rule => ({
  name: "every file of src is reachable from an entry or a test",
  check(files) {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const reached = new Set<string>();
    const visit = (path: string): void => {
      const file = byPath.get(path);
      if (file === undefined || reached.has(path)) return;
      reached.add(path);
      for (const { specifier } of file.imports) {
        const target = resolve(path, specifier);
        if (target !== undefined) visit(target);
      }
    };
    const starts = (file: SourceFile): boolean => entries.includes(file.path) || isTest(file.path);
    for (const file of files) if (starts(file)) visit(file.path);
    return files
      .filter((file) => isShipped(file.path) && !reached.has(file.path))
      .map(({ path }) => ({
        path,
        line: 1,
        message: "no entry and no test imports it: use it or delete it",
      }));
  },
  planted: [
    { files: { "src/core/lost.ts": "" }, says: /no entry and no test imports it/ },
    { files: { "src/core/a.ts": 'import "./b.ts";', "src/core/b.ts": 'import "./a.ts";' }, says: /no entry/ },
  ],
  clean: {
    [entries[0] ?? "src/index.ts"]: 'export * from "./core/a.ts";',
    "src/core/a.ts": 'import type { B } from "./b.ts";',
    "src/core/b.ts": "",
    "src/core/c.ts": "",
    "src/core/c.test.ts": 'import "./c.ts";',
  },
});
