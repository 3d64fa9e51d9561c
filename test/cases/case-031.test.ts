// Case 031: attempt counters differ by the kind of error.
import { expect, it } from "vitest";
import { exponential } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { scripted, virtualTime } from "../../src/node/testing/index.ts";
import { fault } from "../lib/lab.ts";

const reset = Object.assign(new Error("reset"), { code: "ECONNRESET" });
const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
const busy = fault("throttling");

it.each([
  ["reset, 503, reset", [reset, busy, reset]],
  ["503, reset, 503", [busy, reset, busy]],
  ["refused, 503, refused", [refused, busy, refused]],
])("case 031: %s: three attempts, and the first wait is the base", async (_name, errors) => {
  const time = virtualTime();
  const view = dependency({ name: "stock" }, time.runtime).operation("view", {
    idempotent: true,
    retry: { attempts: 3, backoff: exponential({ baseMs: 100 }) },
  });
  const work = scripted([...errors.map((error) => ({ error })), { value: "a fourth" }]);
  await expect(time.run(() => view(work))).rejects.toBe(errors[2]);
  expect(work.attempts.map(({ at }) => at)).toEqual([0, 100, 300]);
});
