/**
 * The apps: they send the load through the guards of the edge `app -> shop-api`, each attempt to an instance at
 * random, and count what becomes of it.
 */
import { type Attempt, dependency, SeededRandom } from "plimsoll";
import { bindEdge, type SystemFile } from "plimsoll/system";
import { type Action, Load } from "../load.ts";
import { systemFor } from "../plan.ts";
import { type Orders, play, type Ready, type Report, type Role } from "../process.ts";
import { post } from "../request.ts";
import { Seconds } from "../seconds.ts";
import { Notes } from "../trace.ts";

/** The longest an action can take: three attempts of 2 s and their backoff, and some more. */
const LAST_ANSWER_MS = 9_000;
/** The longest warm-up, in seconds. */
const WARM_UP_S = 20;
/** Shares of the load, in the order in which they are offered. */
const GROWTH: readonly number[] = [0.2, 0.5, 1];
/** Seconds in which actions are followed: in health, and well within a hiccup. */
const FOLLOWED_S: readonly number[] = [-3, -2, 6, 7];
/** As many of each kind in such a second: of a hiccup's, few get through. */
const FOLLOWED = 40;

/** What an action is answered with. */
interface Answered {
  readonly whole: boolean;
  readonly queries: number;
}

class App implements Role {
  #seconds!: Seconds;
  #load!: Load;
  #actions: Action[] = [];
  #orders!: Orders;
  #sent = 0;
  #warm = false;
  readonly #notes = new Notes();
  readonly #followed: Map<string, number> = new Map();

  async prepare(orders: Orders): Promise<Ready> {
    this.#orders = orders;
    this.#actions = this.#actionsOf(systemFor(orders.plan));
    await this.#warmUp();
    this.#warm = true;
    return {};
  }

  begin(zeroAtMs: number): void {
    const { seed, timetable } = this.#orders.plan;
    this.#notes.zeroAtMs = zeroAtMs;
    this.#seconds = new Seconds(zeroAtMs);
    this.#seconds.sample();
    this.#load = new Load(this.#actions, seed, this.#seconds, timetable.fromS - 1, timetable.untilS);
  }

  async end(): Promise<Report> {
    await this.#load.ended(LAST_ANSWER_MS);
    const lags = this.#load.lags.map((seconds) => seconds * 1000).sort((a, b) => a - b);
    const at = (share: number) => lags[Math.min(lags.length - 1, Math.floor(share * lags.length))] ?? 0;
    return {
      seconds: this.#seconds.all,
      vitals: this.#seconds.vitals.all,
      steps: this.#notes.steps,
      latencies: [...this.#load.latencies],
      lagMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
    };
  }

  /**
   * Offers a load that grows, and then all of it until it is served well: connections are opened and code is compiled
   * before anything counts, as before taking traffic. A timeout of 60 ms would else meet cold processes, and open
   * breakers for seconds, behind which nothing gets warmer.
   */
  async #warmUp(): Promise<void> {
    this.#seconds = new Seconds(Date.now());
    for (const share of GROWTH) {
      const { now } = this.#seconds;
      const some = this.#actions.map((action) => ({ ...action, perSecond: action.perSecond * share }));
      const load = new Load(some, this.#orders.plan.seed, this.#seconds, now, now + WARM_UP_S);
      const enough = () => share < 1 || this.#servedWell(Math.floor(this.#seconds.now) - 1);
      do await this.#nextSecond();
      while (!enough() && this.#seconds.now < WARM_UP_S);
      load.stop();
      if (share === 1) await load.ended(LAST_ANSWER_MS);
    }
  }

  /** Waits until the middle of the next second: what arrived in this one has been answered by then, if at all. */
  #nextSecond(): Promise<void> {
    const at = Math.floor(this.#seconds.now) + 1.5;
    return new Promise((resolve) => setTimeout(resolve, (at - this.#seconds.now) * 1000));
  }

  #servedWell(second: number): boolean {
    const counts = new Map(this.#seconds.all);
    return [second, second - 1].every((at) => {
      const { offered = 0, failed = 0, cartDegraded = 0 } = counts.get(at) ?? {};
      return offered > 0 && failed + cartDegraded <= 0.02 * offered;
    });
  }

  #actionsOf(system: SystemFile): Action[] {
    const { dependency: options, operations, wire } = bindEdge(system, "app", "shop-api");
    const shop = dependency(options);
    const { plan, ports } = this.#orders;
    const random = new SeededRandom(plan.seed).fork("instance");
    return Object.entries(system.workload.actions).map(([name, { perSecond }]) => {
      const operation = shop.operation(name, operations[name]);
      const urls = (ports["shop-api"] ?? []).map((port) => new URL(`http://127.0.0.1:${port}/${name}`));
      const send = (attempt: Attempt, headers: Record<string, string>): Promise<unknown> => {
        this.#seconds.add("appAttempts");
        const url = urls[Math.floor(random.next() * urls.length)] as URL;
        return post(url, attempt, headers, wire.marginMs ?? 0);
      };
      const perform: Action["perform"] = async () => {
        const id = String(++this.#sent);
        const trace = this.#follow(name, id);
        const outcome = await operation.outcome(async (attempt) => {
          this.#noteSent(trace, attempt);
          return (await send(attempt, headersOf(id, trace))) as Answered;
        });
        const answer = outcome.kind === "ok" ? outcome.value : null;
        this.#notes.add(trace, { hop: "app", what: "ended", leftMs: Infinity, note: wordFor(answer) });
        return this.#count(name, answer);
      };
      return { name, perSecond, perform };
    });
  }

  #count(name: string, answer: Answered | null): { as: string; answered: boolean } {
    if (answer === null) return { as: "failed", answered: false };
    this.#seconds.add("dbUseful", answer.queries);
    if (answer.whole) this.#seconds.add("goodput");
    return { as: answer.whole ? name : `${name}Degraded`, answered: true };
  }

  /** The name under which this action is followed, if it is. */
  #follow(action: string, id: string): string | undefined {
    if (this.#orders.plan.trace !== true || !this.#warm || action === "product") return undefined;
    const second = Math.floor(this.#seconds.now);
    const key = `${action} ${second}`;
    const before = this.#followed.get(key) ?? 0;
    if (!FOLLOWED_S.includes(second) || before >= FOLLOWED) return undefined;
    this.#followed.set(key, before + 1);
    return `${action} ${id}`;
  }

  #noteSent(trace: string | undefined, { number, timeLeftMs }: Attempt): void {
    this.#notes.add(trace, {
      hop: "app",
      what: "sent",
      to: "shop-api",
      attempt: number,
      leftMs: timeLeftMs,
    });
  }
}

function headersOf(id: string, trace: string | undefined): Record<string, string> {
  return trace === undefined ? { "x-action": id } : { "x-action": id, "x-trace": trace };
}

function wordFor(answer: Answered | null): string {
  if (answer === null) return "failed";
  return answer.whole ? "answered in full" : "answered without badges";
}

play(new App());
