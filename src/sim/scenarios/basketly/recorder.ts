/** Counts a Basketly run: listens to the model, and keeps seconds, measures and the run's log. */

import type { Attempt } from "../../../core/attempt.ts";
import type { Exit } from "../../../core/call.ts";
import { EVIDENCE, endingOf } from "../../../core/evidence.ts";
import type { Runtime } from "../../../core/runtime.ts";
import { TimedOut } from "../../../core/timed-out.ts";
import { Ticker, type Ticking } from "../../clock.ts";
import { DEGRADED, type Exchange, type Reply } from "../../exchange.ts";
import { LogHash } from "../../hash.ts";
import { refusedBy } from "../../link.ts";
import { LinkTap, ServerTap } from "../../taps.ts";
import type { Action, ActionTap } from "../../workload.ts";
import type { World } from "../../world.ts";
import { Measures } from "./measures.ts";
import { newSecond, type Refused, type Second } from "./second.ts";

/** Codes of the log's entries. Changing one changes every golden hash. */
const LOG = { action: 1, stockReply: 2, stockGaveUp: 3, query: 4, queryStopped: 5, stockRefused: 6 } as const;

/** The start of the run, in seconds. */
export const FIRST_SECOND = -15;

/** Second 0 on the runtime's clock, which starts at 0. */
export const ZERO_MS: number = -FIRST_SECOND * 1000;

/** Everything that is counted. Its ticker marks the seconds. */
export class Recorder implements ActionTap, Ticking {
  readonly runtime: Runtime;
  readonly seconds: Second[] = [];
  readonly log: LogHash = new LogHash();
  readonly measures: Measures | null;
  /** The second that it is. */
  second: Second;
  /** Actions of counted seconds that have no answer yet. */
  open = 0;
  world: World | null = null;
  private readonly untilMs: number;
  private readonly ticker: Ticker;

  constructor(runtime: Runtime, untilS: number, measured: boolean) {
    this.runtime = runtime;
    this.measures = measured ? new Measures(untilS - FIRST_SECOND) : null;
    this.untilMs = ZERO_MS + untilS * 1000;
    this.second = newSecond(FIRST_SECOND);
    this.seconds.push(this.second);
    this.ticker = new Ticker(runtime, this);
    this.ticker.start(1000);
  }

  /** A second begins. */
  tick(): void {
    this.ticker.start(1000);
    const second = newSecond(FIRST_SECOND + this.seconds.length);
    this.seconds.push(second);
    this.second = second;
    const world = this.world as World;
    for (const server of world.servers("shop-api")) {
      second.queued += server.queued;
      second.busy += server.busy;
    }
    for (const server of world.servers("stock")) second.insideStock += server.queued + server.busy;
    for (const server of world.servers("database")) second.waitingForConnection += server.queued;
  }

  arrived(): void {
    this.second.offered++;
    if (this.runtime.now() < this.untilMs) this.open++;
  }

  ended(action: Action, exit: Exit | null): void {
    const { arrivedAt, kind } = action;
    const second = this.seconds[Math.floor(arrivedAt / 1000)] as Second;
    const ending = exit === null ? "refused" : endingOf(exit);
    this.log.add(this.runtime.now(), LOG.action, (kind << 8) ^ ENDINGS.indexOf(ending));
    if (arrivedAt < this.untilMs) this.open--;
    if (exit === null || exit.kind !== "ok") {
      second.failed++;
      return;
    }
    if (exit.value === DEGRADED) {
      second.cartDegraded++;
      return;
    }
    countAnswered(second, kind);
    this.second.goodput++;
  }
}

/** Counts a full answer. The kinds are in the order of the system file; by name, each would be looked up anew. */
function countAnswered(second: Second, kind: number): void {
  if (kind === 0) second.product++;
  else if (kind === 1) second.cart++;
  else second.checkout++;
}

/** Endings in the order of the table: their places in it are what the hash takes in. */
const ENDINGS: readonly string[] = Object.keys(EVIDENCE);

/** The apps' side of shop-api. */
export class AppTap extends LinkTap {
  private readonly recorder: Recorder;

  constructor(recorder: Recorder) {
    super();
    this.recorder = recorder;
  }

  override sent(): void {
    this.recorder.second.appAttempts++;
  }
}

/** shop-api's side of stock. */
export class StockTap extends LinkTap {
  private readonly recorder: Recorder;

  constructor(recorder: Recorder) {
    super();
    this.recorder = recorder;
  }

  override sent(_exchange: Exchange, attempt: number): void {
    const { second } = this.recorder;
    second.stockCalls++;
    if (attempt > 1) second.retries++;
  }

  override replied(exchange: Exchange, reply: Reply, tookMs: number): void {
    const { log, runtime, measures, second } = this.recorder;
    log.add(runtime.now(), LOG.stockReply, (exchange.action.kind << 1) ^ (reply === "ok" ? 1 : 0));
    if (reply === "late") second.timeouts++;
    if (measures !== null) measures.stockCall(tookMs);
  }

  override gaveUp(exchange: Exchange, because: Exit): void {
    const { log, runtime, second } = this.recorder;
    const timedOut = because instanceof TimedOut;
    log.add(runtime.now(), LOG.stockGaveUp, (exchange.action.kind << 1) ^ (timedOut ? 1 : 0));
    if (timedOut) second.timeouts++;
  }

  override ended(exit: Exit): void {
    if (exit.kind === "ok" && exit.degradedBy === undefined) return;
    const by = refusedBy(exit);
    if (by === null) return;
    const { log, runtime, second } = this.recorder;
    if (by in second.refused) {
      second.refused[by as keyof Refused]++;
      log.add(runtime.now(), LOG.stockRefused, by.length);
    }
  }
}

/** shop-api's own side: only measured. */
export class ShopTap extends ServerTap {
  private readonly measures: Measures;

  constructor(measures: Measures) {
    super();
    this.measures = measures;
  }

  override finished(exchange: Exchange): void {
    this.measures.requestFinished(exchange.link.runtime.now());
  }
}

/** The database: who its work was for, and what it committed. */
export class DatabaseTap extends ServerTap {
  private readonly recorder: Recorder;

  constructor(recorder: Recorder) {
    super();
    this.recorder = recorder;
  }

  override started(_exchange: Exchange, attempt: Attempt): void {
    const { measures } = this.recorder;
    if (measures === null) return;
    const { sentAt, wait } = attempt;
    measures.waitedForConnection(sentAt, wait === null ? 0 : sentAt - wait.waitingSince);
  }

  override finished(exchange: Exchange): void {
    const { log, runtime, second } = this.recorder;
    const { wanted, action } = exchange;
    log.add(runtime.now(), LOG.query, (action.kind << 1) ^ (wanted ? 1 : 0));
    if (wanted) second.dbUseful++;
    else second.dbForNobody++;
    if (!exchange.served.write) return;
    action.commits++;
    if (action.commits === 2) second.duplicatedCheckouts++;
    if (action.commits > 1) second.extraCommits++;
  }

  override stopped(): void {
    const { log, runtime } = this.recorder;
    log.add(runtime.now(), LOG.queryStopped, 0);
  }
}
