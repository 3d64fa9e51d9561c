// Arguments: what is wrong, with its name, its value and what is allowed.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { described, flag, oneOf, readArguments, wholeNumber } from "./arguments.ts";
import { scaleFor } from "./machine.ts";
import { postgresUrl } from "./urls.ts";

const table = {
  setting: oneOf(["C0", "guarded"], "guarded", "which guards"),
  seed: wholeNumber(0, 9, 1, "seed"),
  postgres: postgresUrl,
  json: flag("JSON"),
};
const read = (...argv: string[]) => readArguments(argv, table);

it("reads values after a space or a =, and has its defaults", () => {
  expect(read()).toEqual({ setting: "guarded", seed: 1, postgres: undefined, json: false });
  expect(read("--setting=C0", "--seed", "7", "--json", "--postgres", "postgres://a@b/c")).toEqual({
    setting: "C0",
    seed: 7,
    postgres: "postgres://a@b/c",
    json: true,
  });
});

it.each([
  [["--fast"], "--fast is not known here; allowed: --setting, --seed, --postgres, --json"],
  [["fast"], "fast is not known here; allowed: --setting, --seed, --postgres, --json"],
  [["--constructor"], "--constructor is not known here; allowed: --setting, --seed, --postgres, --json"],
  [["--setting", "C9"], '--setting: got "C9"; allowed: C0, guarded'],
  [["--seed"], "--seed: got nothing; allowed: a whole number from 0 to 9"],
  [["--seed", "1.5"], '--seed: got "1.5"; allowed: a whole number from 0 to 9'],
  [["--seed=10"], '--seed: got "10"; allowed: a whole number from 0 to 9'],
  [["--seed="], '--seed: got ""; allowed: a whole number from 0 to 9'],
  [
    ["--postgres", "http://a"],
    '--postgres: got "http://a"; allowed: a URL, postgres://user:password@host:port/database',
  ],
  [["--json=yes"], "--json takes no value; got yes"],
])("%j: %s", (argv, message) => {
  expect(() => read(...argv)).toThrow(message);
});

it("describes them", () => {
  expect(described(table)).toContain("  --setting VALUE   which guards: C0, guarded\n");
  expect(described(table)).toContain("  --json            JSON");
});

it("chooses a scale for the machine", () => {
  expect([1, 2, 4, 8, 64].map(scaleFor)).toEqual(["1/4", "1/4", "1/2", "1", "1"]);
});

describe("the commands", () => {
  const say = (command: string, ...argv: string[]) => {
    const path = fileURLToPath(new URL(`../dist/${command}.js`, import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...argv], { encoding: "utf8" });
    return { status, stdout, stderr };
  };

  it.each([
    [
      "main",
      ["--fast"],
      "plimsoll: --fast is not known here; allowed: --all, --scale, --seed, --postgres, --json, --help\n",
    ],
    ["shop", ["--scale", "2"], 'plimsoll: --scale: got "2"; allowed: 1, 1/2, 1/4\n'],
    [
      "shop",
      ["--kill", "stock", "--hiccup", "3"],
      "plimsoll: --hiccup: got 3; allowed: none beside --kill, one trouble at a time\n",
    ],
    [
      "shop",
      ["--kill", "postgres", "--postgres", "postgres://a@b/c"],
      "plimsoll: --kill: got postgres; allowed: stock beside --postgres, that server is not ours to kill\n",
    ],
  ])("%s %j", (command, argv, stderr) => {
    expect(say(command, ...argv)).toEqual({ status: 2, stdout: "", stderr });
  });

  it.each(["main", "shop"])("%s --help lists its arguments", (command) => {
    const { status, stdout } = say(command, "--help");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^npm (?:start|run shop) -- \[arguments\]\n.*--scale VALUE.*--help {2}/s);
  });

  it("say what to do without a PostgreSQL", () => {
    const { status, stderr } = say("shop", "--json", "--postgres", "postgres://a:secret@127.0.0.1:1/b");
    expect(status).toBe(1);
    expect(stderr).toMatch(/no PostgreSQL to be used at 127\.0\.0\.1:1: .*pass another URL/);
    expect(stderr).not.toContain("secret");
  });
});
