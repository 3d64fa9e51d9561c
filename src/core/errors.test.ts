import { afterEach, expect, it } from "vitest";
import { Lab, only } from "../../test/lib/lab.ts";
import { TimeoutError } from "./errors.ts";
import { timeout } from "./timeout/guard.ts";

const limit = Error.stackTraceLimit;
afterEach(() => {
  Object.defineProperty(Error, "stackTraceLimit", { value: limit, writable: true });
});

it("a timeout is answered where intrinsics are frozen, and so is the next call", () => {
  Object.defineProperty(Error, "stackTraceLimit", { value: limit, writable: false });
  const lab = new Lab();
  const stack = lab.stack([timeout(10)]);
  const late = lab.start(stack, lab.hangs);
  lab.runtime.advance(10);
  expect(only(late, "failed").error).toBeInstanceOf(TimeoutError);
  expect(only(lab.start(stack, lab.gives(1)), "ok").value).toBe(1);
});

it("records no stack, and leaves the limit as it was", () => {
  const error = new TimeoutError({ dependency: "stock", operation: "view" } as never, 5, false);
  expect(error.stack).not.toMatch(/\n\s+at /);
  expect(Error.stackTraceLimit).toBe(limit);
});
