/**
 * Basketly as a system file: apps, shop-api, prices, stock and its database, and the guards that a set of parameters
 * asks for. The simulator and the real shop take it from here.
 *
 * `prices` never slows and no figure of the page depends on it, so that it is there only when a price takes time: the
 * real shop asks for it, and so does the simulation beside the real shop.
 */
import type { BackoffSpec } from "../../core/backoff/machine.ts";
import type { BreakerOptions } from "../../core/breaker/options.ts";
import type {
  BulkheadSpec,
  EdgeSpec,
  GuardSpec,
  ServiceSpec,
  SystemFile,
  WireSpec,
  WorkloadSpec,
} from "../types.ts";
import type { BasketlyParameters, ParameterName } from "./parameters.ts";

/** The name under which code binds the answer of a cart view without badges. */
export const WITHOUT_BADGES = "withoutBadges";

const UNBOUNDED = { maxWaiting: "unbounded", maxWaitMs: "unbounded" } as const;

/** The system that these parameters describe. */
export function basketlySystem(p: BasketlyParameters): SystemFile {
  return {
    version: 1,
    name: "basketly",
    description: "A shop whose stock service has a slow database for 20 seconds.",
    workload: workload(p),
    services: services(p),
    edges: {
      "app -> shop-api": appEdge(p),
      ...(hasPrices(p) && { "shop-api -> prices": pricesEdge(p) }),
      "shop-api -> stock": stockEdge(p),
      "stock -> database": databaseEdge(p),
    },
    faults: [
      {
        kind: "slow",
        service: "database",
        factor: p["hiccup.factor"],
        fromS: p["hiccup.fromS"],
        toS: p["hiccup.toS"],
      },
      ...(p["stall.probability"] > 0
        ? [
            {
              kind: "stall",
              edge: "shop-api -> stock",
              probability: p["stall.probability"],
              ms: p["stall.ms"],
            } as const,
          ]
        : []),
      ...(p["link.cancelLost"] ? [{ kind: "cancelsLost", edge: "shop-api -> stock" } as const] : []),
    ],
  };
}

/**
 * The same shop, smaller: rates, stock's places and connections at `scale`, and as many whole instances as that
 * leaves. At 1/4: one shop-api, 2 connections, 32 places in stock, a quarter of the load.
 */
export function scaled(p: BasketlyParameters, scale: number): BasketlyParameters {
  const whole: ParameterName[] = ["shop-api.instances", "stock.places", "db.connections"];
  const out: Record<string, unknown> = { ...p, "load.factor": p["load.factor"] * scale };
  for (const name of whole) out[name] = Math.max(1, Math.round((p[name] as number) * scale));
  return out as unknown as BasketlyParameters;
}

function workload(p: BasketlyParameters): WorkloadSpec {
  const action = (name: "product" | "cart" | "checkout") => ({
    call: `shop-api.${name}`,
    perSecond: p[`load.${name}`] * p["load.factor"],
  });
  return {
    from: "app",
    actions: { product: action("product"), cart: action("cart"), checkout: action("checkout") },
  };
}

function hasPrices(p: BasketlyParameters): boolean {
  return p["prices.workMs"] > 0;
}

function services(p: BasketlyParameters): Record<string, ServiceSpec> {
  const work = { kind: "fixed", ms: p["shop-api.workMs"] } as const;
  const query = { kind: "exponential", meanMs: p["db.queryMs"] } as const;
  const price = { kind: "fixed", ms: p["prices.workMs"] } as const;
  const priced = hasPrices(p) ? ["prices.price"] : [];
  return {
    "shop-api": {
      instances: p["shop-api.instances"],
      places: p["shop-api.places"],
      queue: UNBOUNDED,
      operations: {
        product: priced.length > 0 ? { work, calls: priced } : { work },
        cart: { work, calls: [...priced, "stock.view"] },
        checkout: { work, effect: "write", calls: [...priced, "stock.reserve"] },
      },
    },
    ...(hasPrices(p) && { prices: { operations: { price: { work: price } } } }),
    stock: {
      places: p["stock.places"],
      queue: UNBOUNDED,
      operations: {
        view: { calls: ["database.read"] },
        reserve: { effect: "write", calls: ["database.commit"] },
      },
    },
    database: {
      places: p["db.connections"],
      queue: UNBOUNDED,
      operations: { read: { work: query }, commit: { work: query, effect: "write" } },
    },
  };
}

function wire(p: BasketlyParameters, unavailable: WireSpec["unavailable"]): WireSpec {
  return {
    deadline: p["deadline.send"],
    marginMs: p["deadline.marginMs"],
    cancel: p["link.cancel"],
    unavailable,
  };
}

function retry(attempts: number, backoffMs: number): NonNullable<GuardSpec["retry"]> {
  const backoff: BackoffSpec =
    backoffMs > 0
      ? { kind: "fullJitter", baseMs: backoffMs, capMs: Math.max(1_000, backoffMs) }
      : { kind: "none" };
  return { attempts, backoff };
}

/** Apps make one request for one action: what they send is always the time of the attempt. */
function appEdge(p: BasketlyParameters): EdgeSpec {
  const guards: GuardSpec = {
    idempotent: true,
    attemptTimeoutMs: p["app.timeoutMs"],
    retry: retry(p["app.attempts"], p["app.backoffMs"]),
  };
  const answers = p["app.retry503"] ? "retryable" : "final";
  const sent: WireSpec = { ...wire(p, answers), late: answers };
  return {
    wire: sent.deadline === "request" ? { ...sent, deadline: "attempt" } : sent,
    budget: "none",
    operations: { product: guards, cart: guards, checkout: guards },
  };
}

/** shop-api is as patient with prices as with stock. No more guards: nothing here is ever wrong with it. */
function pricesEdge(p: BasketlyParameters): EdgeSpec {
  const price: GuardSpec = {
    idempotent: true,
    attemptTimeoutMs: p["shop-api.stock.timeoutMs"],
    retry: retry(p["shop-api.stock.attempts"], p["shop-api.stock.backoffMs"]),
  };
  return {
    wire: wire(p, p["shop-api.retry503"] ? "retryable" : "final"),
    budget: "none",
    operations: { price },
  };
}

function stockEdge(p: BasketlyParameters): EdgeSpec {
  const limit = p["bulkhead.limit"];
  const bulkhead: { bulkhead?: BulkheadSpec } = limit > 0 ? { bulkhead: { limit } } : {};
  const guards: GuardSpec = {
    idempotent: true,
    attemptTimeoutMs: p["shop-api.stock.timeoutMs"],
    retry: retry(p["shop-api.stock.attempts"], p["shop-api.stock.backoffMs"]),
    ...(p["shop-api.stock.hedgeMs"] > 0 && { hedge: { delayMs: p["shop-api.stock.hedgeMs"] } }),
    ...(p.breaker && { breaker: breaker(p) }),
  };
  const reserveMs = p["shop-api.reserve.timeoutMs"];
  return {
    wire: wire(p, p["shop-api.retry503"] ? "retryable" : "final"),
    ...bulkhead,
    budget: p.budget ? { ratio: p["budget.ratio"], burst: p["budget.burst"] } : "none",
    operations: {
      view: p.brownout ? { ...guards, fallback: WITHOUT_BADGES } : guards,
      reserve: reserveMs > 0 ? { ...guards, attemptTimeoutMs: reserveMs } : guards,
    },
  };
}

/** Exactly `openMs`, and (if asked) a full gate counts as a failed call: as on the page. The library's defaults differ. */
function breaker(p: BasketlyParameters): BreakerOptions {
  const windowMs = p["breaker.windowMs"];
  return {
    window: windowMs > 0 ? { ms: windowMs } : { calls: p["breaker.window"] },
    failureRate: 0.5,
    openMs: p["breaker.openMs"],
    reopen: { kind: "fixed" },
    probes: p["breaker.probes"],
    probeTimeoutMs: p["breaker.probeTimeoutMs"],
    localRefusals: p["breaker.countRefusals"] ? "failure" : "ignored",
  };
}

function databaseEdge(p: BasketlyParameters): EdgeSpec {
  const guards: GuardSpec = {
    idempotent: true,
    attemptTimeoutMs: p["stock.db.timeoutMs"],
    retry: retry(p["stock.db.attempts"], 0),
  };
  return { wire: wire(p, "retryable"), budget: "none", operations: { read: guards, commit: guards } };
}
