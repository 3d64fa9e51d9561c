// What the package promises, entry by entry, as text that a reviewer sees change. After a change that is meant:
// `npm run api:update`, and say in CHANGELOG.md what users must do.
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { entries } from "../../scripts/lib/entries.mjs";
import { root } from "../lib/repo.ts";
import { readFrom, render, surfaceOf } from "./declarations.ts";

/** One page an entry: what Node gets under another condition must be the same, see below. */
const written = entries().filter((entry) => entry.exists && entry.name !== "index.node");

describe.each(written)("$subpath", ({ name, types }) => {
  it("exports what the committed page says", async () => {
    const page = render(surfaceOf(types, readFrom(root)));
    await expect(page).toMatchFileSnapshot(`${name}.api.txt`);
  });
});

it("the page of an entry that is gone is gone too", () => {
  const pages = readdirSync(`${root}test/public-api`).filter((file) => file.endsWith(".api.txt"));
  expect(pages.filter((file) => !written.some((entry) => file === `${entry.name}.api.txt`))).toEqual([]);
});

it("Node and other platforms are promised the same", () => {
  const page = (file: string): string => render(surfaceOf(`dist/${file}.d.ts`, readFrom(root)));
  expect(page("index.node")).toBe(page("index"));
});

describe("the reader of declarations", () => {
  const files: Record<string, string> = {
    "dist/index.d.ts": [
      'export * from "./a.ts";',
      'export { inner as outer, type Shape } from "./b.js";',
      'export * as ns from "./b.ts";',
      'import { inner } from "./b.ts";',
      "declare const own: number;",
      "export { own, inner };",
      'export type { Z } from "zod";',
      "export default own;",
    ].join("\n"),
    "dist/a.d.ts": [
      "/** Gone from the page. */",
      "export declare function f(a: string): void;",
      "export declare function f(a: number): void;",
      "export interface Wide {",
      "    /** Gone too. */",
      "    a: number; // and this",
      "",
      "    b(): { c: 1 };",
      "}",
      "export declare class K {",
      "    #private;",
      "}",
      "export declare const made: {",
      "    a: 1;",
      "} & Wide;",
      "export type Pair = [{ a: 1 }, () => { b: 2 }];",
      'import type { Shape } from "./b.ts";',
      "export {};",
    ].join("\n"),
    "dist/b.d.ts": "export declare const inner: 1;\nexport interface Shape { a: 1 }\n",
  };
  const surface = surfaceOf("dist/index.d.ts", (path) => files[path]!);

  it("follows every way to hand a name on", () => {
    expect([...surface.keys()].sort()).toEqual(
      ["f", "Wide", "K", "made", "Pair", "outer", "Shape", "ns", "own", "inner", "Z", "default"].sort(),
    );
    expect(surface.get("outer")).toEqual(["export declare const inner: 1;"]);
    expect(surface.get("own")).toEqual(["declare const own: number;"]);
    expect(surface.get("f")).toHaveLength(2);
    expect(surface.get("made")).toEqual(["export declare const made: {\n    a: 1;\n} & Wide;"]);
    expect(surface.get("Z")).toEqual(['from "zod": Z']);
  });

  it("leaves comments and empty lines out, and keeps the rest as printed", () => {
    expect(surface.get("Wide")).toEqual(["export interface Wide {\n    a: number;\n    b(): { c: 1 };\n}"]);
  });

  it("shows a changed member", () => {
    const changed: Record<string, string> = {
      ...files,
      "dist/a.d.ts": files["dist/a.d.ts"]!.replace("a: number;", "a?: number;"),
    };
    const page = render(surfaceOf("dist/index.d.ts", (path) => changed[path]!));
    expect(page).not.toBe(render(surface));
    expect(page).toContain("a?: number;");
  });
});
