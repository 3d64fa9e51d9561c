import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const command = fileURLToPath(new URL("../bin/plimsoll.js", import.meta.url));
const plimsoll = (...args: string[]) =>
  spawnSync(process.execPath, [command, "options", ...args], { encoding: "utf8" });

describe("plimsoll options", () => {
  it("says of every option what it means, its default and where that comes from", () => {
    const { status, stdout } = plimsoll("--json");
    expect(status).toBe(0);
    const options: { options: string; field: string; byDefault: string; from: string; about: string }[] =
      JSON.parse(stdout);
    expect(
      options.find(({ options: of, field }) => `${of}.${field}` === "BudgetOptions.ratio"),
    ).toMatchObject({
      byDefault: "0.1",
      from: "SRE book: 10 %",
    });
    expect(
      options.find(({ options: of, field }) => `${of}.${field}` === "BulkheadOptions.limit"),
    ).toMatchObject({
      byDefault: "none",
      from: expect.stringContaining("it must be measured"),
    });
    expect(options.length).toBeGreaterThan(150);
    expect(options.filter(({ about }) => about === "")).toEqual([]);
  });

  it("finds options by words, as text and as a page", () => {
    const { stdout } = plimsoll("hedge", "tied");
    expect(stdout).toMatch(/^HedgeOptions\.tied {2}\(default: false\)\n {2}Whether the attempts are tied/);
    const { stdout: page } = plimsoll("queueoptions", "maxwaiting", "--markdown");
    expect(page).toContain("## QueueOptions");
    expect(page).toContain("| `maxWaiting` | 0 | nobody waits |");
  });

  it("says when none is found", () => {
    const { status, stderr } = plimsoll("flux", "capacitor");
    expect([status, stderr]).toEqual([1, 'No option says "flux" and "capacitor".\n']);
  });
});
