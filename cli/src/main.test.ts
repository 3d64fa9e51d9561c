import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const home = fileURLToPath(new URL("..", import.meta.url));
const plimsoll = (folder: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(folder, "bin", "plimsoll.js"), ...args], { encoding: "utf8" });

it("says its version", () => {
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { version: string };
  expect(plimsoll(home, "--version").stdout).toBe(`${version}\n`);
});

it("refuses an unknown option, on stderr, with a code", () => {
  const { status, stdout, stderr } = plimsoll(home, "--no-such-option");
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("unknown option '--no-such-option'");
});

it("lists what there is, when there is no such scenario", () => {
  const { status, stdout, stderr } = plimsoll(home, "replay", "nothing");
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("unknown command 'nothing'");
  expect(stderr).toMatch(/basketly[\s\S]*tail-at-scale/);
});

it("says what to do when it is not built", () => {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-"));
  try {
    for (const part of ["bin", "package.json"])
      cpSync(join(home, part), join(folder, part), { recursive: true });
    const { status, stderr } = plimsoll(folder, "--version");
    expect(status).toBe(1);
    expect(stderr).toContain("npm run build");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
