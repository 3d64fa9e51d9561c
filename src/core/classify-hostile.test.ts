// What the user's code throws or judges may be anything; one such value must not stop the loop for everybody.
import { expect, it } from "vitest";
import { Lab, only } from "../../test/lib/lab.ts";
import { bulkhead } from "./bulkhead/guard.ts";
import type { Failed } from "./call.ts";
import { FAILURE } from "./classify.ts";
import { retry } from "./retry/guard.ts";

const unreadable = (field: string): Error =>
  Object.defineProperty(new Error("broken"), field, {
    get() {
      throw new Error(`${field} cannot be read`);
    },
  });
const circular = new Error("broken");
circular.cause = circular;
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

const guards = () => [retry({ attempts: 2, backoff: { kind: "none" } }), bulkhead({ limit: 1 })];

it.each([
  ["a name that cannot be read", unreadable("name")],
  ["a code that cannot be read", unreadable("code")],
  ["a cause that cannot be read", unreadable("cause")],
  ["a syscall that cannot be read", Object.assign(unreadable("syscall"), { code: "E" })],
  ["itself as its cause", circular],
  ["nothing that can be read", revoked],
  ["a mark that is null", { [FAILURE]: null }],
  ["a mark with an end that does not exist", { [FAILURE]: { class: "transient", ended: "late" } }],
  ["a mark with a class that does not exist", { [FAILURE]: { class: "permanant" } }],
])("an error with %s is of unknown class, and the next call is served", (_name, error) => {
  const lab = new Lab();
  const stack = lab.stack(guards());
  const { class: failureClass, error: reported } = only(lab.start(stack, lab.throws(error)), "failed");
  expect(failureClass).toBe("unknown");
  expect(Object.is(reported, error)).toBe(true);
  expect(only(lab.start(stack, lab.gives(1)), "ok").value).toBe(1);
});

it.each([
  ["true", true],
  ["a promise", Promise.resolve()],
  ["no kind", {}],
  ["another kind", { kind: "cancelled", reason: 1 }],
  ["no class", { kind: "failed" }],
  ["a misspelt class", { kind: "failed", class: "permanant" }],
  ["an end that does not exist", { kind: "failed", class: "transient", ended: "late" }],
])("a judge that says %s fails its call, permanently, and no other", (_name, said) => {
  const lab = new Lab();
  const judged = lab.stack(guards(), { judge: () => said as Failed });
  expect(only(lab.start(judged, lab.gives(1)), "failed")).toMatchObject({
    class: "permanent",
    error: { name: "OptionError", field: "what classify() returned" },
  });
  expect(only(lab.start(lab.stack(guards()), lab.gives(1)), "ok").value).toBe(1);
});
