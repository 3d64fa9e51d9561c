import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { basketlySystem, parametersOf } from "plimsoll/system";
import { describe, expect, it } from "vitest";

const command = fileURLToPath(new URL("../bin/plimsoll.js", import.meta.url));
const plimsoll = (...args: string[]) =>
  spawnSync(process.execPath, [command, "explain", ...args], { encoding: "utf8" });

describe("plimsoll explain", () => {
  it("says what the guards of a setting mean, and how attempts multiply", () => {
    const { status, stdout } = plimsoll("basketly", "--setting", "C0");
    expect(status).toBe(0);
    expect(stdout).toContain(
      "shop-api -> stock, view\n  A call makes up to 3 attempts, each given up after 1 s",
    );
    expect(stdout).toContain("  cart: up to 27 at database.read");
  });

  it("reads a system file, fallbacks by name included, and gives JSON", () => {
    const folder = mkdtempSync(join(tmpdir(), "plimsoll-"));
    try {
      const path = join(folder, "system.json");
      writeFileSync(path, `\uFEFF${JSON.stringify(basketlySystem(parametersOf("guarded") as never))}`);
      const { status, stdout } = plimsoll("file", path, "--json");
      expect(status).toBe(0);
      const { operations, paths } = JSON.parse(stdout);
      const view = operations.find((each: { operation: string }) => each.operation === "view");
      expect(view).toMatchObject({ edge: "shop-api -> stock", worst: { attempts: 2, longestMs: 325 } });
      expect(paths).toContainEqual({ action: "cart", at: "database.read", attempts: 4 });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.each([
    [["basketly", "--setting", "C99"], '--setting: "C99" is not allowed'],
    [["file", "no-such-file.json"], '<path>: "no-such-file.json" is not allowed'],
    [["file", command], "a JSON file that can be read"],
  ])("refuses %j in a line that says what is allowed", (args, message) => {
    const { status, stdout, stderr } = plimsoll(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
  });
});
