// Case 083: a blocked key's own record grows with the attack.
import { expect, it } from "vitest";
import { RateLimit, rateLimit } from "../../src/core/index.ts";
import { Lab, only } from "../lib/lab.ts";

it("case 083: after 1,000,000 refusals the record is what it was, and the window still ends on time", () => {
  const lab = new Lab();
  lab.runtime.sink = null;
  const limit = new RateLimit({ limit: 10, windowMs: 60_000 });
  const stack = lab.stack([rateLimit(limit)]);
  for (let i = 0; i < 10; i++) only(lab.start(stack, lab.gives(i)), "ok");
  const record = JSON.stringify(limit.bucket);
  for (let i = 0; i < 1_000_000; i++) {
    if (stack.refusalNow() === null && lab.start(stack, lab.gives(i)).answers[0]?.kind !== "rejected")
      expect.fail(`request ${i} passed`);
    if (i % 20_000 === 0) lab.runtime.advance(100);
  }
  expect(JSON.stringify(limit.bucket)).toBe(record);
  expect([lab.runtime.now(), lab.runtime.pending]).toEqual([5_000, 0]);
  lab.runtime.advance(999);
  only(lab.start(stack, lab.gives(1)), "rejected");
  lab.runtime.advance(1);
  only(lab.start(stack, lab.gives(1)), "ok");
});
