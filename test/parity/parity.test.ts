// The same guards in every world: driver, shell on the virtual clock, shell on Node's. And one seed, one history.
import { describe, expect, it } from "vitest";
import { EVENTS_VERSION } from "../../src/core/index.ts";
import { programOf } from "../contract/maker.ts";
import { runBoth } from "../contract/run.ts";
import { SCENARIOS } from "./scenarios.ts";
import { byCore, byNode, byShell } from "./worlds.ts";

const scenarios = Object.entries(SCENARIOS);

describe.each(scenarios)("%s", (_name, scenario) => {
  it("comes to the same in all three, and tells the same on the virtual clock", async () => {
    const [fused, generated, shell, node] = await Promise.all([
      byCore(scenario, false),
      byCore(scenario, true),
      byShell(scenario),
      byNode(scenario),
    ]);
    expect(generated).toEqual(fused);
    expect(shell.outcomes).toEqual(fused.outcomes);
    expect(callByCall(shell.log)).toEqual(callByCall(fused.log));
    expect(node).toEqual(fused.outcomes);
  });

  it("has its outcomes", async () => {
    expect((await byCore(scenario, false)).outcomes.join("\n")).toMatchSnapshot();
  });
});

/** The log of each call by itself: promises of two calls may settle in another order than callbacks would. */
function callByCall(log: readonly string[]): string[] {
  const numberOf = (line: string): number => (JSON.parse(line) as { call: number }).call;
  return [...log].sort((a, b) => numberOf(a) - numberOf(b));
}

/** FNV-1a, 32 bits, over the lines as UTF-16. */
function fnv(lines: readonly string[]): string {
  let hash = 0x811c9dc5;
  for (const line of lines) {
    for (let i = 0; i < line.length; i++) hash = Math.imul(hash ^ line.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 10, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}

// A change here is a change of what replays show: raise EVENTS_VERSION if the events themselves are other ones, and
// run `npx vitest run test/parity --update`.
it("one seed gives one event log, on every Node", async () => {
  const lines = [`events ${EVENTS_VERSION}`];
  for (const [name, scenario] of scenarios) lines.push(`${name} ${fnv((await byCore(scenario, false)).log)}`);
  for (let seed = 1; seed <= 40; seed++) {
    const { breach, log } = runBoth(programOf(seed));
    expect(breach).toBeNull();
    lines.push(`fuzz ${seed} ${log.length} events ${fnv(log)}`);
  }
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("events.golden.txt");
});
