import { expect, it } from "vitest";
import { Lab } from "../../test/lib/lab.ts";
import type { AbortTarget } from "./abort.ts";
import type { Exit } from "./call.ts";
import { endingOf } from "./evidence.ts";
import type { Task } from "./loop.ts";
import { timeout } from "./timeout/guard.ts";

/** Work that is an object and hears of its end itself. */
class Work implements AbortTarget, Task {
  readonly context = null;
  readonly heard: string[] = [];
  readonly lab: Lab;

  constructor(lab: Lab) {
    this.lab = lab;
  }

  fire(because: Exit): void {
    this.heard.push(`fire ${endingOf(because)}`);
    this.lab.runtime.loop.push(this);
  }

  run(): void {
    this.heard.push("run");
  }
}

it("tells a target once that it is given up, and runs it from the loop", () => {
  const lab = new Lab();
  const work = new Work(lab);
  const call = lab.start(lab.stack([timeout(10)]), (attempt) => attempt.abortTo(work));
  lab.runtime.advance(9);
  expect(work.heard).toEqual([]);
  lab.runtime.advance(100);
  expect(work.heard).toEqual(["fire timeout", "run"]);
  expect(call.answers).toMatchObject([{ kind: "failed", ended: "timeout" }]);
});

it("tells a target of a cancel, and not of an answer", () => {
  const lab = new Lab();
  const [cancelled, answered] = [new Work(lab), new Work(lab)];
  const call = lab.start(lab.stack([timeout(10)]), (attempt) => attempt.abortTo(cancelled));
  call.process.cancel("gone");
  expect(cancelled.heard).toEqual(["fire cancelled", "run"]);
  lab.start(lab.stack([timeout(10)]), (attempt) => {
    attempt.abortTo(answered);
    attempt.succeed(1);
  });
  lab.runtime.advance(100);
  expect(answered.heard).toEqual([]);
});
