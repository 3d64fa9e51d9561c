// Case 040: a POST was sent again after the client's own timeout (sindresorhus/got#786).
import got from "got";
import { expect, it } from "vitest";
import { serve, sleep } from "../../../test/lib/http.ts";
import { guard } from "./index.ts";

it("a POST that has timed out is not sent again: nobody knows what became of it", async () => {
  const { url, seen } = await serve(() => {});
  const api = guard(got, {
    name: "stock",
    operation: { attemptTimeoutMs: 300, retry: { backoff: () => 0 } },
  });
  await expect(api.post(url, { json: { pay: 1 } })).rejects.toMatchObject({ code: "PLIMSOLL_TIMEOUT" });
  await sleep(50);
  expect(seen).toHaveLength(1);
});
