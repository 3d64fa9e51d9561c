// Every call (laws 1, 6, 8, 9): answered once, with the dependency's last word; sent no more often, no later and no
// longer than it may be; and to no destination twice while others are left.
import { type Exit, type PlimsollEvent, TimeoutError } from "../../../src/core/index.ts";
import type { CallRun, Sender, WorkRun } from "../records.ts";
import type { Shape } from "../shape.ts";
import { isProbing } from "./breakers.ts";
import { Law } from "./law.ts";

export class Calls extends Law {
  override starts(run: WorkRun): void {
    const { sender, attempt } = run;
    this.#nobodyIsGone(sender);
    if (attempt.state !== "sent") this.fail("1", `a work started while its attempt is ${attempt.state}`);
    if (this.scene.exact && this.now >= attempt.call.deadline) this.fail("9", "sent after its deadline");
    if (run.isFallback) return;
    const shape = this.shapeOf(sender);
    if (this.scene.exact && sender === run.call && this.now >= run.call.deadline)
      this.fail("9", "sent after its call's deadline");
    if (this.scene.exact && attempt.call.deadline - this.now < shape.spec.minUsefulMs)
      this.fail("9", "sent with too little time left");
    if (attempt.timeoutMs > shape.timeoutMs && !isProbing(attempt))
      this.fail("9", "more time than its timeout");
    if (sender.works.length > shape.maxWorks)
      this.fail("6", `${sender.name} was sent ${sender.works.length} times, of ${shape.maxWorks}`);
    if (sender.refused && shape.isPlain && !shape.hasFallback)
      this.fail("8", `${sender.name} was refused locally, and was sent again`);
    this.#mayRepeat(sender, shape);
  }

  #nobodyIsGone(sender: Sender): void {
    if (sender !== sender.founder) return;
    const { process, answered, name } = sender.founder;
    if (answered || (process !== null && process.exit !== null))
      this.fail("1", `${name} was answered, and was sent again`);
  }

  /** After an end that is final, or that may have taken effect, the same call is not sent again. */
  #mayRepeat(sender: Sender, shape: Shape): void {
    const before = sender.works.at(-2);
    if (before === undefined || !shape.isPlain || shape.retries === 0) return;
    const { judged } = before;
    if (judged === "ok" || judged === "degraded" || judged === "permanent" || judged === "told")
      this.fail("8", `${sender.name} ended with ${judged}, and was sent again`);
    const harmless = judged === "unsent" || judged === "throttled";
    if (!harmless && !shape.spec.idempotent && !sender.spec.keyed)
      this.fail("8", `${sender.name} may not be repeated, and was`);
  }

  override chosen({ sender }: WorkRun, from: readonly string[], chosen: string): void {
    if (!from.includes(chosen)) this.fail("8", `${chosen} was chosen of ${from}`);
    if (sender.chosen.has(chosen) && from.some((each) => !sender.chosen.has(each)))
      this.fail("8", `${sender.name} was sent to ${chosen} again, and others are left`);
    sender.chosen.add(chosen);
  }

  override answered(call: CallRun, exit: Exit): void {
    if (call.answers.length > 1) this.fail("1", `${call.name} was answered ${call.answers.length} times`);
    if (call.process !== null && call.process.exit !== exit) this.fail("1", "the answer is not the exit");
    if (exit.kind === "cancelled") {
      if (call.cancelled?.reason !== exit.reason)
        this.fail("1", `${call.name} was not cancelled by its caller`);
    } else if (call.cancelled !== null)
      this.fail("1", `${call.name} was cancelled, and answered ${exit.kind}`);
    else if (exit.kind === "rejected") {
      if (call.works.length > 0 || call.flights.some(({ works }) => works.length > 0))
        this.fail("8", `${call.name} was refused, and had been sent`);
    } else if (exit.kind === "failed") this.#lastWord(call, exit.error);
  }

  /** What is reported is the dependency's last outcome. */
  #lastWord(call: CallRun, error: unknown): void {
    if (!this.shapeOf(call).isPlain) return;
    const last = call.works.at(-1);
    if (call.good) this.fail("1", `${call.name} had a good answer, and reports a failure`);
    if (error instanceof TimeoutError) {
      const heard = last?.reported === true && last.judged !== null && last.attempt.state === "ended";
      if (heard && this.now < last.attempt.deadline)
        this.fail("1", `${call.name} reports a timeout, and its last attempt had none`);
      return;
    }
    const { run } = error as { run?: WorkRun };
    if (run !== undefined && run !== last)
      this.fail("1", `${call.name} reports an attempt that was not the last`);
  }

  override event(sender: Sender, event: PlimsollEvent): void {
    if (event.type === "call.answered") {
      sender.founder.answeredEvents++;
      if (event.sent !== sender.works.length)
        this.fail("8", `${sender.name} says it was sent ${event.sent} times`);
    } else if (event.type === "attempt.refused") sender.refused = true;
    else if (event.type === "retry.scheduled" && !(event.delayMs >= 0 && event.delayMs <= 32))
      this.fail("6", `a backoff of ${event.delayMs} ms`);
  }

  override look(): void {
    for (const call of this.world.calls) if (call.started) this.#lookAt(call);
  }

  #lookAt(call: CallRun): void {
    const { process, answers } = call;
    if (process === null) return;
    const ended = process.exit !== null;
    if (ended && answers.length !== 1)
      this.fail("1", `${call.name} has ended, with ${answers.length} answers`);
    if (ended !== (call.answeredEvents === 1))
      this.fail("1", `${call.name}: ${call.answeredEvents} events of its end`);
    const over = this.now - call.deadline - this.shapeOf(call).fallbackMs;
    if (this.scene.exact && !ended && over > 0)
      this.fail("9", `${call.name} is ${over} ms over its deadline`);
    for (const { attempt } of call.all)
      if (ended && attempt.state === "sent")
        this.fail("1", `${call.name} was answered, and an attempt of it goes on`);
  }

  /** Whoever has no answer waits for work that never ends. */
  override rest(): void {
    for (const call of this.world.calls) {
      if (!call.started || call.answered) continue;
      const waits = [...this.world.live].some(
        ({ sender, attempt }) =>
          attempt.state === "sent" && (sender === call || call.flights.some((flight) => flight === sender)),
      );
      if (!waits) this.fail("1", `${call.name} will never be answered`);
    }
  }
}
