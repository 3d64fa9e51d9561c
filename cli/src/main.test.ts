import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
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

it("needs no package that its manifest does not list", () => {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-"));
  try {
    const modules = join(folder, "node_modules");
    const installed = join(modules, "@plimsoll", "cli");
    const repo = join(home, "..");
    const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const listed = Object.keys(manifestOf(home).dependencies).filter((name) => name !== "plimsoll");
    // An empty folder hides what may be installed further up.
    for (const name of Object.keys(manifestOf(repo).peerDependencies))
      if (!listed.includes(name)) mkdirSync(join(modules, name), { recursive: true });
    // Copies, since a link would find what is installed beside the original.
    for (const part of ["bin", "dist", "package.json"])
      cpSync(join(home, part), join(installed, part), { recursive: true });
    for (const part of ["dist", "package.json"])
      cpSync(join(repo, part), join(modules, "plimsoll", part), { recursive: true });
    for (const name of listed) symlinkSync(join(repo, "node_modules", name), join(modules, name));
    const { status, stderr } = plimsoll(installed, "explain", "basketly", "--setting", "guarded");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it("says what --setting may be, when it is left out", () => {
  for (const command of ["replay", "explain"]) {
    const { status, stderr } = plimsoll(home, command, "basketly");
    expect(status).toBe(1);
    expect(stderr).toMatch(/required option '--setting <name>'[\s\S]*C0-cap40/);
  }
});
