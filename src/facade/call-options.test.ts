// Options of a call come from JavaScript, too: a wrong one rejects the call by name, before the work is started.
import { expect, it, vi } from "vitest";
import { VirtualRuntime } from "../testing/index.ts";
import { type CallOptions, dependency } from "./index.ts";

it.each([
  ["signal", [null, {}, "signal", new AbortController()]],
  ["parent", [null, {}, "attempt"]],
  ["deadline", [null, Number.NaN, -1, "99", new Date(), 5n, [1], Symbol("soon")]],
  ["bytes", [null, Number.NaN, -1, "99"]],
  ["criticality", [null, "utmost"]],
  ["tenant", [null, 7]],
  ["key", [null, 7, Symbol("key")]],
  ["idempotencyKey", [null, "", 0, 7]],
] as [keyof CallOptions, unknown[]][])("refuses a wrong %s", async (field, values) => {
  const work = vi.fn();
  const view = dependency({ name: "stock" }, new VirtualRuntime()).operation("view");
  for (const value of values) {
    for (const way of [view, view.outcome]) {
      await expect(way(work, { [field]: value })).rejects.toMatchObject({
        name: "OptionError",
        field: `call.${field}`,
      });
    }
  }
  expect(work).not.toHaveBeenCalled();
});

it("rejects, and does not throw, when an option cannot be read", async () => {
  const view = dependency({ name: "stock" }, new VirtualRuntime()).operation("view");
  const options = {
    get signal(): AbortSignal {
      throw new Error("unreadable");
    },
  };
  await expect(view(() => 1, options)).rejects.toThrow("unreadable");
});
