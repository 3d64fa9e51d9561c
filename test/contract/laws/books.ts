// Budgets (law 10): what was sent and what is reserved, by the rule of each kind as its page has it.
import type { Budget, BudgetSpec, PlimsollEvent } from "../../../src/core/index.ts";
import type { Sender, WorkRun } from "../records.ts";
import { Law, type Scene } from "./law.ts";

/** One budget, as the works and the events tell it. */
interface Book {
  readonly budget: Budget;
  readonly spec: BudgetSpec;
  /** Whether everything that is a first attempt can be told from outside. */
  readonly clear: boolean;
  firsts: number;
  /** First attempts that were answered well. */
  good: number;
  repeats: number;
  /** gRPC's bucket, in thousandths. */
  tokens: number;
  /** Sent and not answered, as the events have it; and the repeats among them, but for probes. */
  inFlight: number;
  repeating: number;
}

export class Books extends Law {
  readonly #books: readonly Book[];

  constructor(scene: Scene) {
    super(scene);
    this.#books = this.world.parts.budgets.map((budget, index) => {
      const spec = this.world.program.budgets[index] as BudgetSpec;
      // Where what is repeated is a flight, its attempts are a call's of their own.
      const clear = scene.shapes.every(
        ({ spec: { budget: of }, repeatsFlights }) => of !== index || !repeatsFlights,
      );
      const tokens = "kind" in spec && spec.kind === "grpc" ? 1000 * spec.maxTokens : 0;
      return { budget, spec, clear, firsts: 0, good: 0, repeats: 0, tokens, inFlight: 0, repeating: 0 };
    });
  }

  #bookOf(sender: Sender): Book | undefined {
    const { budget } = this.shapeOf(sender).spec;
    return budget === null ? undefined : this.#books[budget];
  }

  override starts(run: WorkRun): void {
    const book = this.#bookOf(run.sender);
    if (book === undefined || run.isFallback) return;
    if (run.isFirst) book.firsts++;
    else book.repeats++;
  }

  override event(sender: Sender, event: PlimsollEvent): void {
    const book = this.#bookOf(sender);
    if (book === undefined) return;
    if (event.type === "retry.scheduled") this.#granted(book);
    if (event.type === "attempt.sent" && event.kind !== "fallback") {
      book.inFlight++;
      if (isRepeat(event.kind)) book.repeating++;
    }
    if (event.type === "attempt.answered" && event.kind !== "fallback") {
      book.inFlight--;
      if (isRepeat(event.kind)) book.repeating--;
    }
  }

  override ends(run: WorkRun, ending: string): void {
    const book = this.#bookOf(run.sender);
    if (book === undefined) return;
    const { spec } = book;
    // A repeat that never left has spent nothing.
    if (ending === "unsent" && !run.isFirst) book.repeats--;
    if (run.isFirst && (ending === "ok" || ending === "degraded")) book.good++;
    if (!("kind" in spec) || spec.kind !== "grpc") return;
    const full = 1000 * spec.maxTokens;
    if (ending === "ok" || ending === "degraded")
      book.tokens = Math.min(full, book.tokens + Math.round(1000 * spec.tokenRatio));
    else if (!["permanent", "unsent", "cancelled", "hedgeLoser"].includes(ending))
      book.tokens = Math.max(0, book.tokens - 1000);
  }

  /** A retry has just been decided on, and whatever was told before it had happened before it. */
  #granted({ spec, tokens, budget, inFlight, repeating }: Book): void {
    if (!("kind" in spec)) return;
    if (spec.kind === "grpc" && 2 * tokens <= 1000 * spec.maxTokens)
      this.fail("10", `a retry with ${tokens} thousandths of ${spec.maxTokens} tokens`);
    if (spec.kind !== "concurrencyShare") return;
    const { share = 0.2, min = 3 } = spec;
    // One or two that waited then may have been sent since.
    const most = Math.max(min, share * (inFlight + budget.reserved + 2));
    if (repeating + 1 > most) this.fail("10", `${repeating + 1} repeats, of ${most}`);
  }

  override look(): void {
    for (const book of this.#books) {
      const { budget, clear, firsts, repeats } = book;
      if (budget.reserved < 0) this.fail("10", `${budget.reserved} tokens reserved`);
      if (clear && (firsts !== budget.firsts || repeats !== budget.repeats))
        this.fail(
          "10",
          `${firsts} firsts and ${repeats} repeats were sent, the books say ${budget.firsts} and ${budget.repeats}`,
        );
      this.#lookAtRule(book);
    }
  }

  #lookAtRule(book: Book): void {
    const { spec, budget, tokens } = book;
    const { level, reserved, repeats, firsts } = budget;
    const kind = "kind" in spec ? spec.kind : "ratio";
    if (!("kind" in spec)) {
      const { ratio = 0.1, burst = 10 } = spec;
      if (level < 0 || level > burst) this.fail("10", `a budget at ${level} of ${burst}`);
      this.#bounded(repeats + reserved, burst + ratio * firsts);
    } else if (kind === "grpc" && level !== tokens / 1000)
      this.fail("10", `a throttle at ${level}, and it should be ${tokens / 1000}`);
    else if (kind === "aws") {
      const most = Math.min(500, 500 - 5 * reserved + book.good);
      const least = 500 - 14 * (reserved + repeats);
      if (level > most || level < least) this.fail("10", `a quota at ${level}, of ${least} to ${most}`);
    } else if (spec.kind === "concurrencyShare") this.#lookAtShare(book);
    else if (spec.kind === "windowShare") {
      const { ratio = 0.2, perSecond = 10, windowMs = 10_000 } = spec;
      if (windowMs >= 10_000)
        this.#bounded(repeats + reserved, (perSecond * windowMs) / 1000 + ratio * firsts);
    }
  }

  #bounded(used: number, allowed: number): void {
    if (used > allowed + 1e-9) this.fail("10", `${used} repeats are sent or reserved, of ${allowed}`);
  }

  /** The share follows what is in flight: the works say what that is. */
  #lookAtShare({ budget, spec, clear }: Book): void {
    if (!clear || !("kind" in spec) || spec.kind !== "concurrencyShare") return;
    const { share = 0.2, min = 3 } = spec;
    let [inFlight, repeating] = [0, 0];
    for (const { attempt, sender, isFallback, isFirst } of this.world.live) {
      if (isFallback || this.#bookOf(sender)?.budget !== budget || attempt.state !== "sent") continue;
      inFlight++;
      if (!isFirst) repeating++;
    }
    const level = Math.max(min, share * (inFlight + budget.reserved)) - repeating - budget.reserved;
    if (Math.abs(level - budget.level) > 1e-9)
      this.fail("10", `a share at ${budget.level}, and it should be ${level}`);
  }

  override end(): void {
    for (const { reserved } of this.world.parts.budgets)
      if (reserved !== 0) this.fail("10", `${reserved} tokens reserved at the end`);
  }
}

const isRepeat = (kind: string): boolean => kind === "retry" || kind === "hedge";
