// The compiler is a wall too: a wrong type in a `*.type.ts`, and a clock in a pure ring, must fail the check.
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { root } from "../lib/repo.ts";

function errorsOf(project: string): string[] {
  const tsc = `${root}node_modules/typescript/bin/tsc`;
  const { stdout } = spawnSync(
    process.execPath,
    [tsc, "-p", `test/types/planted/${project}`, "--pretty", "false"],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  return [...stdout.matchAll(/\((\d+),\d+\): error (TS\d+)/g)].map(([, line, code]) => `${line} ${code}`);
}

it("a wrong type fails, and so does an expected error that does not come", () => {
  expect(errorsOf("wrong")).toEqual(["2 TS2322", "3 TS2578"]);
});

it("a pure ring has no clock, timer, console, process or page, and has abort signals", () => {
  expect(errorsOf("pure")).toEqual(["2 TS2304", "3 TS2304", "3 TS2584", "3 TS2591", "4 TS2584", "5 TS2339"]);
});

it("a program without Node's types can check our declarations", () => {
  expect(errorsOf("user")).toEqual(["11 TS2322"]);
});
