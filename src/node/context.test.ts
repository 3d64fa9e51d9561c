import { AsyncLocalStorage } from "node:async_hooks";
import { expect, it, vi } from "vitest";
import { PLAIN_CALL } from "../core/call.ts";
import { contextReader, inRequest } from "./context.ts";

const request = { fields: PLAIN_CALL, deadline: 5, signal: undefined };

it("carries a request to whatever is done for it, once somebody may read it", async () => {
  const run = vi.spyOn(AsyncLocalStorage.prototype, "run");
  expect(inRequest(request, () => "unread")).toBe("unread");
  expect(run).not.toHaveBeenCalled();
  const ambient = contextReader();
  expect(ambient()).toBeUndefined();
  await inRequest(request, async () => {
    await null;
    expect(ambient()).toBe(request);
  });
  expect(ambient()).toBeUndefined();
  run.mockRestore();
});
