// Case 061: a deadline was encoded as Infinity, NaN or a negative.
import { expect, it } from "vitest";
import { dependency, OptionError, RefusedError } from "../../index.node.ts";
import { VirtualRuntime } from "../../testing/virtual-runtime.ts";
import { createFetch, fetch as guarded } from "./fetch.ts";

/** What is sent with this much time left on a virtual clock: a header, nothing in it, or no request at all. */
async function sent(leftMs: number): Promise<unknown> {
  const runtime = new VirtualRuntime();
  const requests: (string | null)[] = [];
  const work = createFetch({
    fetch: async (_, init) => {
      requests.push(new Headers(init?.headers).get("x-envoy-expected-rq-timeout-ms"));
      return new Response("ok");
    },
  });
  const view = dependency({ name: "stock" }, runtime).operation("view");
  const deadline = runtime.now() + leftMs;
  const outcome = await view.outcome((attempt) => work("http://stock/", attempt).then((r) => r.text()), {
    deadline,
  });
  expect(requests.length).toBe(outcome.kind === "ok" ? 1 : 0);
  return outcome.kind === "ok" ? requests[0] : outcome;
}

it("Infinity: no header", async () => {
  expect(await sent(Infinity)).toBeNull();
});

it("less than a millisecond is not rounded to none", async () => {
  expect(await sent(0.4)).toBe("1");
  expect(await sent(1.9)).toBe("1");
});

it("0: fails here, by the deadline, with nothing sent", async () => {
  expect(await sent(0)).toMatchObject({ kind: "rejected", by: "deadline" });
});

it("over while the work prepares: the same, from within", async () => {
  const runtime = new VirtualRuntime();
  const view = dependency({ name: "stock" }, runtime).operation("view");
  const outcome = await view.outcome(
    (attempt) => {
      const late = Object.create(attempt, { timeLeftMs: { value: 0 } });
      return guarded("http://127.0.0.1:9/", late).then((response) => response.text());
    },
    { deadline: 5 },
  );
  expect(outcome).toMatchObject({ kind: "failed", effect: "none", ended: "clipped" });
  expect((outcome as { error: unknown }).error).toBeInstanceOf(RefusedError);
});

it.each([Number.NaN, -5, -Infinity])("%d is refused where it is given", async (deadline) => {
  const view = dependency({ name: "stock" }, new VirtualRuntime()).operation("view");
  await expect(view(() => "sent", { deadline })).rejects.toThrow(OptionError);
});
