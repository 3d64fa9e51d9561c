// What the pages say is held to the code: examples compile and run, links lead somewhere, tables are the code's own.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { format } from "node:util";
import { afterAll, describe, expect, it, vi } from "vitest";
import { explainText } from "../../cli/src/explain-text.ts";
import { report } from "../../cli/src/replay/report.ts";
import { EVIDENCE } from "../../src/core/index.ts";
import { dependency } from "../../src/index.node.ts";
import { replayBasketly } from "../../src/sim/index.ts";
import { basketlySystem, explainSystem, parametersOf } from "../../src/system/index.ts";
import { optionsIn, plain } from "../lib/options.ts";
import { root } from "../lib/repo.ts";
import { compileErrors, removeExamples, writeExamples } from "./examples.ts";
import { type Block, deadLinks, type Page, readPage, tableUnder } from "./markdown.ts";
import { disagreements, endsOf } from "./ranges.ts";

const paths = [
  ...readdirSync(root).filter((file) => file.endsWith(".md")),
  ...readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
].sort();
const pages = paths.map((path) => readPage(path, readFileSync(root + path, "utf8")));
const page = (path: string): Page => pages.find((each) => each.path === path) ?? readPage(path, "");
const source = (path: string): string => readFileSync(root + path, "utf8");
const cell = (row: Readonly<Record<string, string>>, column: string): string => plain(row[column] ?? "");
const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();

const examples = writeExamples(pages);
afterAll(removeExamples);

describe("examples", () => {
  it("compile", { timeout: 60_000 }, () => {
    expect(examples.length).toBeGreaterThan(0);
    expect(compileErrors(examples)).toEqual([]);
  });

  const running = examples.filter(({ block }) => block.info === "ts runs");
  it.each(running)("$title prints what the page says", async ({ run, block }) => {
    const printed: string[] = [];
    const log = vi
      .spyOn(console, "log")
      .mockImplementation((...words) => void printed.push(format(...words)));
    try {
      await import(run);
    } finally {
      log.mockRestore();
    }
    expect(`${printed.join("\n")}\n`).toBe(block.next?.code);
  });

  for (const { title, run, block } of examples) {
    if (/from "vitest"/.test(block.code))
      describe(title, async () => {
        await import(run);
      });
  }
});

describe("replays", () => {
  const replays = pages.flatMap(({ blocks }) =>
    blocks.filter(
      ({ code, next }) => /^npx plimsoll replay basketly .*\n$/.test(code) && next?.info === "text",
    ),
  );
  it.each(replays)("$page:$line ends as the page says", { timeout: 60_000 }, ({ code, next }: Block) => {
    const lines = report(replayBasketly(flags(code)).replay).split("\n");
    for (const line of next?.code.trimEnd().split("\n") ?? []) expect(lines).toContain(line);
  });
});

describe("explanations", () => {
  const command = /^npx plimsoll explain basketly --setting (\S+)\n$/;
  const explained = pages.flatMap(({ blocks }) =>
    blocks.filter(({ code, next }) => command.test(code) && next?.info === "text"),
  );
  it.each(explained)("$page:$line reads as the page says", ({ code, next }: Block) => {
    const parameters = parametersOf(command.exec(code)?.[1] ?? "");
    const lines = explainText(explainSystem(basketlySystem(parameters as never))).split("\n");
    for (const line of next?.code.trimEnd().split("\n") ?? []) expect(lines).toContain(line);
  });
});

/** The options of a command line. */
function flags(line: string): Parameters<typeof replayBasketly>[0] {
  const said = new Map(
    [...line.matchAll(/--(setting|seed|until|scale) (\S+)/g)].map(([, name, value]) => [name, value]),
  );
  const overrides = Object.fromEntries(
    [...line.matchAll(/--set (\S+?)=(\S+)/g)].map(([, key, value]) => [key, value]),
  );
  return {
    setting: said.get("setting") ?? "",
    seed: Number(said.get("seed") ?? 1),
    untilS: Number(said.get("until") ?? 30),
    scale: Number(said.get("scale") ?? 1),
    overrides: overrides as Record<string, string>,
  };
}

it("links lead to files and headings that are there", () => {
  expect(deadLinks(pages, (path) => existsSync(root + path))).toEqual([]);
});

/** The sets of options on each page. One that is not listed has no page, and fails. */
const OPTIONS_ON: Readonly<Record<string, readonly string[]>> = {
  "guards/README": ["DependencyOptions", "OperationOptions", "CallOptions", "StackOptions"],
  "guards/retry": ["RetryOptions", "GrowthOptions", "GrpcBackoffOptions", "AwsBackoffOptions"],
  "guards/budget": [
    "BudgetOptions",
    "GrpcThrottleOptions",
    "AwsQuotaOptions",
    "ConcurrencyShareOptions",
    "WindowShareOptions",
  ],
  "guards/hedge": ["HedgeOptions", "LiveDelayOptions"],
  "guards/breaker": ["BreakerOptions", "ReopenOptions", "KeyedOptions", "PerKeyOptions"],
  "guards/partial-breaker": ["PartialBreakerOptions"],
  "guards/bulkhead": [
    "BulkheadOptions",
    "QueueOptions",
    "LimitBoundsOptions",
    "AimdOptions",
    "LatencyAimdOptions",
  ],
  "guards/fallback": ["FallbackOptions", "FallbackCommonOptions", "StaleOptions"],
  "guards/rate-limit": ["RateOptions", "RateLimitOptions"],
  "guards/adaptive-throttle": ["AdaptiveThrottleOptions"],
  "guards/coalesce": ["CoalesceOptions"],
  "guide/time": ["TimeLimitOptions", "SliceOptions", "ShieldOptions", "CheckpointOptions"],
  "guide/periodic": ["EveryOptions"],
};
const PAGES = new Map(
  Object.entries(OPTIONS_ON).flatMap(([path, names]) => names.map((name) => [name, path] as const)),
);

/** The table of a set of options. */
const tableOf = (name: string): Record<string, string>[] =>
  tableUnder(page(`docs/${PAGES.get(name)}.md`), `\`${name}\``);

describe("options", () => {
  const options = [...optionsIn(root, "src/core"), ...optionsIn(root, "src/facade")];
  const interfaces = sorted(options.map((option) => option.interface));

  it("have a page each", () => {
    expect(interfaces).toEqual([...PAGES.keys()].sort());
  });

  it.each(interfaces)("%s: every one stands on its page, with its default", (name) => {
    const table = tableOf(name);
    const said = table.map((row) => `${cell(row, "option")}: ${cell(row, "default")}`);
    const declared = options.filter((option) => option.interface === name);
    expect(said).toEqual(declared.map(({ field, byDefault }) => `${field}: ${byDefault}`));
    const empty = table.filter((row) => Object.values(row).some((cell) => cell === ""));
    expect(empty).toEqual([]);
  });

  it("have the ranges that their pages state, to the ends", () => {
    const tried = interfaces.flatMap((name) =>
      tableOf(name).flatMap((row) => {
        const found = disagreements(name, cell(row, "option"), cell(row, "range"));
        return found === null ? [] : [found];
      }),
    );
    expect(tried.flat()).toEqual([]);
    expect(tried.length).toBeGreaterThan(20);
  });

  it("say in their docstrings what they are, with the range of their page", () => {
    const everywhere = ["src/core", "src/facade", "src/node", "src/testing", "src/sim"];
    const silent = everywhere.flatMap((folder) => optionsIn(root, folder)).filter(({ text }) => text === "");
    expect(silent.map(({ option }) => option)).toEqual([]);
    const rangeless = options.filter((option) => {
      const table = tableOf(option.interface);
      const range = cell(table.find((row) => cell(row, "option") === option.field) ?? {}, "range");
      return endsOf(range) !== null && !plain(option.text).includes(range);
    });
    expect(rangeless.map(({ option }) => option)).toEqual([]);
  });
});

it("every guard has a page, and the pages are listed", () => {
  const guards = readdirSync(`${root}src/core`).filter((name) =>
    existsSync(`${root}src/core/${name}/guard.ts`),
  );
  const written = readdirSync(`${root}docs/guards`).filter((file) => file !== "README.md");
  expect(written.sort()).toEqual([...guards, "budget"].map((name) => `${name}.md`).sort());
  const listed = tableUnder(page("docs/guards/README.md"), "The guards").map((row) => cell(row, "page"));
  expect(listed.map((link) => /\((.*)\)/.exec(link)?.[1]).toSorted()).toEqual(written);
});

describe("docs/guards/README.md", () => {
  const { prose } = page("docs/guards/README.md");

  it("names what an attempt has", async () => {
    const rows = tableUnder(page("docs/guards/README.md"), "What the work gets");
    const names = rows.flatMap((row) => [...cell(row, "field").matchAll(/[a-zA-Z]+(?=\(|,|$)/g)].map(String));
    expect(names).toContain("timeLeftMs");
    const missing = await dependency({ name: "stock" }).operation("view")((attempt) =>
      names.filter((name) => !(name in attempt)),
    );
    expect(missing).toEqual([]);
  });

  it("has the table of evidence, row by row", () => {
    const said = tableUnder(page("docs/guards/README.md"), "Evidence").map((row) =>
      Object.fromEntries(Object.keys(EVIDENCE.ok).map((column) => [column, cell(row, column)])),
    );
    expect(said).toEqual(Object.values(EVIDENCE));
  });

  it("states the order that the code states", () => {
    const order =
      "fallback → deadline → coalesce → retry → hedge → [breaker · adaptive throttle · rate limit · bulkhead] → attempt timeout → work";
    expect(source("src/core/stack.ts").replace(/\s*\n \*\s*/g, " ")).toContain(order);
    expect(prose + page("docs/guards/README.md").text).toContain(order);
  });
});

describe("docs/errors.md", () => {
  it("has every refusal of the code, and no other", () => {
    const files = ["src/core", "src/facade", "src/node"].flatMap((folder) =>
      readdirSync(root + folder, { recursive: true, encoding: "utf8" })
        .filter((file) => /(?<!\.test|\.type)\.ts$/.test(file))
        .map((file) => source(`${folder}/${file}`)),
    );
    const made = files.flatMap((text) => [
      ...[...text.matchAll(/\brejected\("(\w+)",([^;]*?)\)/g)].flatMap(([, by, reasons = ""]) =>
        [...reasons.matchAll(/"([^"]+)"/g)].map(([, reason]) => `${by}: ${reason}`),
      ),
      ...[...text.matchAll(/by: "(\w+)",\s*reason: "([^"]+)"/g)].map(([, by, reason]) => `${by}: ${reason}`),
    ]);
    const said = tableUnder(page("docs/errors.md"), "Reasons").map(
      (row) => `${cell(row, "by")}: ${cell(row, "reason")}`,
    );
    expect(said.toSorted()).toEqual(sorted(made));
  });

  it("has every code of an error", () => {
    const [, union = ""] = /type ErrorCode =([^;]*);/.exec(source("src/core/errors.ts")) ?? [];
    const said = tableUnder(page("docs/errors.md"), "Errors").map((row) => cell(row, "code"));
    expect(said.toSorted()).toEqual(sorted([...union.matchAll(/"(\w+)"/g)].map(([, code = ""]) => code)));
  });
});

it("the guide has every event, and every kind of attempt", () => {
  const table = tableUnder(page("docs/guide/README.md"), "Watch");
  const made = [...source("src/core/events.ts").matchAll(/type: "([\w.]+)"/g)].map(([, type = ""]) => type);
  expect(table.map((row) => cell(row, "event")).toSorted()).toEqual(sorted(made));
  const [, kinds = ""] = /type AttemptKind =([^;]*);/.exec(source("src/core/call.ts")) ?? [];
  const sent = table.find((row) => cell(row, "event") === "attempt.sent")?.fields;
  for (const [, kind] of kinds.matchAll(/"(\w+)"/g)) expect(sent).toMatch(new RegExp(`\\b${kind}\\b`));
});
