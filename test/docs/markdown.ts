// What the checks read of a page: its code blocks, headings, links and tables.
import { posix } from "node:path";

/** A fenced block. */
export interface Block {
  readonly page: string;
  /** The line of its first fence, from 1. */
  readonly line: number;
  /** `ts`, and what stands behind it: `no-check`, `runs`. */
  readonly info: string;
  readonly code: string;
  /** What is printed: the block below, if nothing but a sentence stands between. */
  readonly next: Block | undefined;
}

/** A page of Markdown. */
export interface Page {
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The text with its blocks blanked out, line for line. */
  readonly prose: string;
  readonly anchors: ReadonlySet<string>;
}

const FENCE = /^```([^\n`]*)\n([\s\S]*?)^```$/gm;

/** Reads a page. */
export function readPage(path: string, text: string): Page {
  const blocks: { -readonly [K in keyof Block]: Block[K] }[] = [...text.matchAll(FENCE)].map((match) => ({
    page: path,
    line: text.slice(0, match.index).split("\n").length,
    info: (match[1] ?? "").trim(),
    code: match[2] ?? "",
    next: undefined,
  }));
  for (const [index, block] of blocks.entries()) block.next = blocks[index + 1];
  const prose = text.replace(FENCE, (block) => block.replace(/[^\n]/g, ""));
  return { path, text, blocks, prose, anchors: anchorsOf(prose) };
}

/** Anchors as GitHub makes them: lower case, marks gone, spaces as dashes, repeats numbered. */
function anchorsOf(prose: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, title = ""] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = title
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replace(/ /g, "-");
    let name = anchor;
    for (let n = 1; anchors.has(name); n++) name = `${anchor}-${n}`;
    anchors.add(name);
  }
  return anchors;
}

/** Links to files and places of this repo that lead nowhere. `exists` knows every path. */
export function deadLinks(pages: readonly Page[], exists: (path: string) => boolean): string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  return pages.flatMap((page) =>
    [...page.prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [file = "", anchor] = link.split("#");
      const path = file === "" ? page.path : posix.join(posix.dirname(page.path), file);
      const there = file === "" || exists(path.replace(/\/$/, ""));
      const found = anchor === undefined || byPath.get(path)?.anchors.has(anchor) === true;
      return there && found ? [] : [`${page.path}: ${link}`];
    }),
  );
}

/** The rows of the first table below a heading with `title` in it, each by the names of its columns. */
export function tableUnder(page: Page, title: string): Record<string, string>[] {
  const sections = page.prose
    .split(/^(?=#{1,6} )/m)
    .filter((section) => section.split("\n", 1)[0]?.includes(title));
  const tables = sections.flatMap((section) => section.match(/(?:^\|.*\n)+/m) ?? []);
  const [columns = [], , ...rows] = (tables[0] ?? "").trimEnd().split("\n").map(cells);
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] ?? ""])));
}

const cells = (line: string): string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((text) => text.trim());
