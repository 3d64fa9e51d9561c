// Callers that leave a flight at the worst moments.
import { expect, it } from "vitest";
import { fault, Lab, only, type Script, type Started } from "../../../test/lib/lab.ts";
import { PLAIN_CALL } from "../call.ts";
import { rateLimit } from "../rate-limit/guard.ts";
import { retry } from "../retry/guard.ts";
import type { Binding } from "../stack.ts";
import { type CoalesceGuard, coalesce } from "./guard.ts";

function made() {
  const lab = new Lab();
  const stack = lab.stack([coalesce()]);
  const plain = lab.stack([]);
  const ask = (script: Script, withinMs = Infinity): Started =>
    lab.start(stack, script, { withinMs, fields: { ...PLAIN_CALL, key: "k" } });
  return { lab, ask, aside: (script: Script) => lab.start(plain, script) };
}

it("never seats a caller on a flight that is being given up, and keeps the next one's place on the map", () => {
  const { lab, ask, aside } = made();
  const first = ask(lab.hangs);
  let second: Started | undefined;
  aside((attempt) => {
    second = ask(lab.gives("second", 10)); // begins when this has returned: after the first has left
    first.process.cancel("gone");
    attempt.succeed(1);
  });
  const third = ask(lab.gives("third", 10));
  lab.runtime.runToIdle();
  expect(only(second as Started, "ok").value).toBe("second");
  expect([only(third, "ok").value, third.sent.length]).toEqual(["second", 0]);
});

it("reports the flight that was sent when the next one is refused: what it may have done, it may have done", () => {
  const lab = new Lab();
  const stack = lab.stack([coalesce(), rateLimit({ limit: 1, windowMs: 60_000 })]);
  const ask = (withinMs: number): Started =>
    lab.start(stack, lab.hangs, { withinMs, fields: { ...PLAIN_CALL, key: "k" } });
  ask(10);
  const second = ask(100);
  lab.runtime.advance(10);
  expect(only(second, "failed")).toMatchObject({
    ended: "clipped",
    effect: "unknown",
    stoppedBy: { by: "rateLimit" },
  });
});

it("begins no flight for a caller whom a backoff has just given up", () => {
  const lab = new Lab();
  const backoff = (): number => {
    call.process.cancel("gone");
    return 0;
  };
  const guard = coalesce();
  let layer: CoalesceGuard | undefined;
  const seen = { name: guard.name, bind: (at: Binding) => (layer = guard.bind(at) as CoalesceGuard) };
  const stack = lab.stack([retry({ backoff }), seen]);
  const call = lab.start(stack, [lab.throws(fault("transient"), 1), lab.hangs], {
    fields: { ...PLAIN_CALL, key: "k" },
  });
  lab.runtime.runToIdle();
  expect([only(call, "cancelled").reason, call.sent.length, layer?.inFlight]).toEqual(["gone", 1, 0]);
});

it("leaves no timer of a caller who has gone", () => {
  const { lab, ask } = made();
  const stays = ask(lab.gives(1, 1_000));
  for (let n = 0; n < 100; n++) ask(lab.hangs, 60_000).process.cancel("gone");
  expect(lab.runtime.pending).toBe(1);
  lab.runtime.runToIdle();
  expect([only(stays, "ok").value, lab.runtime.now()]).toEqual([1, 1_000]);
});
