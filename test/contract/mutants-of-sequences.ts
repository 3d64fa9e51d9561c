// Faults of guards that wait or repeat, of what they spend and what they draw, beside those of the kernel in `mutants.ts`.
import { type Mutant, mutant } from "./mutant.ts";

const COALESCE: readonly Mutant[] = [
  mutant("3", "one who leaves a flight takes the others along", [
    "coalesce/guard.ts",
    "if (!this.waiting.delete(seat) || this.waiting.size > 0) return;",
    "if (!this.waiting.delete(seat)) return;",
  ]),
  mutant("2", "a flight for nobody goes on", [
    "coalesce/guard.ts",
    'this.over({ kind: "cancelled", reason }); this.call.cancel(reason);',
    'this.over({ kind: "cancelled", reason });',
  ]),
  mutant("1", "a tenant is given what another asked", [
    "coalesce/guard.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source
    "const key = `${call.tenant.length}:${call.tenant}${call.key}`;",
    "const key = call.key;",
  ]),
  mutant("1", "a flight answers one of those who wait", [
    "coalesce/guard.ts",
    "for (const seat of this.waiting) seat.landed(exit);",
    "for (const seat of [...this.waiting].slice(0, 1)) seat.landed(exit);",
  ]),
  mutant("6", "as many wait for a flight as like", [
    "coalesce/guard.ts",
    "flight.waiting.size >= this.policy.maxWaiting",
    "flight.waiting.size < 0",
  ]),
  mutant("6", "there are as many flights as keys", [
    "coalesce/guard.ts",
    "if (fiber.exit !== null || this.flights.size >= this.policy.maxFlights) return null;",
    "if (fiber.exit !== null) return null;",
  ]),
  mutant("2", "a flight that has landed stays on the map", [
    "coalesce/guard.ts",
    "if (this.flights.get(key) === flight) this.flights.delete(key);",
    "",
  ]),
  mutant("1", "a failure is shared for ever", [
    "coalesce/machine.ts",
    "if (now < found.until) return found.exit;",
    "return found.exit;",
  ]),
  mutant("9", "a flight's time is that of the first", [
    "coalesce/guard.ts",
    "if (!again || call.deadline <= runtime.now()) return all;",
    "return all;",
  ]),
  mutant("2", "a flight is begun for a caller who has just been given up", [
    "coalesce/guard.ts",
    "if (fiber.exit !== null || this.flights.size >= this.policy.maxFlights) return null;",
    "if (this.flights.size >= this.policy.maxFlights) return null;",
  ]),
  mutant("8", "what an earlier flight has done is forgotten", [
    "coalesce/guard.ts",
    'if (earlier?.kind !== "failed" || exit.kind !== "rejected") return after(earlier, exit);',
    "if (true) return exit;",
  ]),
];

const HEDGE: readonly Mutant[] = [
  mutant("3", "tied attempts go on beside the one that is begun on", [
    "hedge/guard.ts",
    "if (branch === begun || branch.fiber.exit !== null) continue;",
    "continue;",
  ]),
  mutant("3", "a tied attempt is sent after another was begun on", [
    "hedge/guard.ts",
    "if (begun) return BEGUN;",
    "",
  ]),
  mutant("8", "what a tied attempt that was given up has done is forgotten", [
    "hedge/guard.ts",
    "return race.mayHaveRun ? unsure(last) : last;",
    "return last;",
  ]),
  mutant("6", "one hedge too many", [
    "hedge/guard.ts",
    "return race.branches.length >= this.policy.attempts;",
    "return race.branches.length > this.policy.attempts;",
  ]),
  mutant(
    "3",
    "a dependency that asks for less is hedged all the same",
    ["hedge/guard.ts", "if (this.policy.isQuiet(now)) return QUIET;", ""],
    ["hedge/machine.ts", "if (now < this.quietUntil) return Infinity;", ""],
  ),
  mutant("3", "a live delay follows the very first attempt", [
    "hedge/machine.ts",
    "if (latencies.total(now) < this.minSamples) return Infinity;",
    "if (latencies.total(now) < 1) return Infinity;",
  ]),
  mutant("3", "a live delay may be none", [
    "hedge/machine.ts",
    "return Math.max(this.minMs, latencies.percentile(this.percentile, now) as number);",
    "return latencies.percentile(this.percentile, now) as number;",
  ]),
];

const FALLBACKS: readonly Mutant[] = [
  mutant("8", "what may have been done is done elsewhere", [
    "fallback/guard.ts",
    "if (notExecutedOnly && !notExecuted(exit)) return null;",
    "",
  ]),
  mutant("8", "what an earlier attempt has done is forgotten", [
    "call.ts",
    'return earlier?.kind === "failed" && earlier.effect === "unknown" ? { ...exit, effect: "unknown" } : exit;',
    "return exit;",
  ]),
  mutant("1", "a stale answer is another tenant's", [
    "fallback/stale.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source
    "return `${tenant.length}:${tenant}${key}`;",
    "return tenant === key ? tenant : key;",
  ]),
  mutant("9", "a stale answer may be as old as it likes", [
    "fallback/stale.ts",
    "return kept === undefined || now - kept.at > this.maxAgeMs ? null : kept;",
    "return kept ?? null;",
  ]),
  mutant("1", "half an answer is kept", [
    "fallback/guard.ts",
    "if (kept !== null && exit.degradedBy === undefined) kept.keep(call, exit.value, now);",
    "if (kept !== null) kept.keep(call, exit.value, now);",
  ]),
  mutant("1", "a substitute that fails in exercise takes the good answer along", [
    "fallback/guard.ts",
    'if (substitute.kind !== "ok") return exercised ?? because;',
    'if (substitute.kind !== "ok") return because;',
  ]),
  mutant("1", "nothing is put in the place of half an answer, on purpose", [
    "fallback/guard.ts",
    "if (kept !== null && kept.of(call, now) === null) return null; return { ...EXERCISED, answer: exit };",
    "return { ...EXERCISED, answer: exit };",
  ]),
  mutant("1", "a substitute passes for the answer", [
    "fallback/guard.ts",
    'return { kind: "ok", value: substitute.value, degradedBy: exercised === null ? because : EXERCISED };',
    'return { kind: "ok", value: substitute.value, degradedBy: undefined };',
  ]),
];

const BUDGETS: readonly Mutant[] = [
  mutant("10", "half a bucket is enough for gRPC", [
    "budget/presets.ts",
    "return 2 * this.thousandths > this.full ? 0 : null;",
    "return 2 * this.thousandths >= this.full ? 0 : null;",
  ]),
  mutant("10", "the AWS quota sets nothing aside", [
    "budget/presets.ts",
    "this.tokens -= cost; return cost;",
    "return cost;",
  ]),
  mutant("10", "a repeat that has ended stays in Envoy's share", [
    "budget/presets.ts",
    "if (token !== null) this.repeating--;",
    "",
  ]),
  mutant("10", "Finagle's share forgets what is reserved", [
    "budget/presets.ts",
    "return this.beside + this.ratio * (total - failures) - failures - this.reserved;",
    "return this.beside + this.ratio * (total - failures) - failures;",
  ]),
  mutant("10", "a token that a flight did not spend is lost", [
    "retry/guard.ts",
    "if (token !== null) token.cancel(); ({ delayMs, token, backoffFrom } = decision);",
    "({ delayMs, token, backoffFrom } = decision);",
  ]),
];

const CHANCE: readonly Mutant[] = [
  mutant("8", "a repeat goes where the call has been", [
    "work-view.ts",
    "const fresh = destinations.filter((each) => !tried.includes(each));",
    "const fresh = destinations;",
  ]),
  mutant("8", "each attempt forgets where the others went", [
    "work-view.ts",
    "call.tried ??= []; return call.tried;",
    "return [];",
  ]),
  mutant("7", "guards draw from one stream", [
    "random.ts",
    "return new SeededRandom(hash32(name, this.seed));",
    "return this;",
  ]),
  mutant("7", "a share is drawn from everybody's stream", [
    "share.ts",
    "const random = runtime.random.fork(stream);",
    "const random = runtime.random;",
  ]),
  mutant("7", "a backoff draws from the engine's chance", [
    "backoff/machine.ts",
    "WITHOUT_CHANCE.includes(spec.kind) ? 0 : random.next();",
    "WITHOUT_CHANCE.includes(spec.kind) ? 0 : Math.random();",
  ]),
];

export const MUTANTS_OF_SEQUENCES: readonly Mutant[] = [
  ...COALESCE,
  ...HEDGE,
  ...FALLBACKS,
  ...BUDGETS,
  ...CHANCE,
];
