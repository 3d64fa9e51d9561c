/**
 * Basketly's parameters: one flat record, each with its range. A setting is a choice of them, `--set` changes one.
 * The model and its numbers: the Basketly page, Part 1 ("as shipped" is what stands here as default).
 */

/** What a deadline on the wire may be. */
export type DeadlineWord = "none" | "attempt" | "request";

/** Everything about Basketly that can be set. */
export interface BasketlyParameters {
  "load.product": number;
  "load.cart": number;
  "load.checkout": number;
  "load.factor": number;
  "shop-api.instances": number;
  "shop-api.places": number;
  "shop-api.workMs": number;
  "prices.workMs": number;
  "stock.places": number;
  "db.connections": number;
  "db.queryMs": number;
  "hiccup.factor": number;
  "hiccup.fromS": number;
  "hiccup.toS": number;
  "app.timeoutMs": number;
  "app.attempts": number;
  "app.backoffMs": number;
  "app.retry503": boolean;
  "shop-api.stock.timeoutMs": number;
  "shop-api.stock.attempts": number;
  "shop-api.stock.backoffMs": number;
  "shop-api.reserve.timeoutMs": number;
  "shop-api.retry503": boolean;
  "stock.db.timeoutMs": number;
  "stock.db.attempts": number;
  "deadline.send": DeadlineWord;
  "deadline.marginMs": number;
  "link.cancel": boolean;
  "link.cancelLost": boolean;
  "stall.probability": number;
  "stall.ms": number;
  "shop-api.stock.hedgeMs": number;
  budget: boolean;
  "budget.ratio": number;
  "budget.burst": number;
  breaker: boolean;
  "breaker.window": number;
  "breaker.windowMs": number;
  "breaker.openMs": number;
  "breaker.probes": number;
  "breaker.probeTimeoutMs": number;
  "breaker.countRefusals": boolean;
  "bulkhead.limit": number;
  brownout: boolean;
}

/** The name of a parameter. */
export type ParameterName = keyof BasketlyParameters;

/** What a parameter may be. */
export type ParameterRange =
  | { readonly kind: "number"; readonly min: number; readonly max: number; readonly integer: boolean }
  | { readonly kind: "boolean" }
  | { readonly kind: "word"; readonly words: readonly string[] };

/** A parameter: its value as shipped (C0), its range, and what it is. */
export interface Parameter {
  readonly value: number | boolean | string;
  readonly range: ParameterRange;
  readonly about: string;
}

function number(value: number, about: string, min = 0, max = 1_000_000): Parameter {
  return { value, range: { kind: "number", min, max, integer: false }, about };
}

function whole(value: number, about: string, min = 0, max = 1_000_000): Parameter {
  return { value, range: { kind: "number", min, max, integer: true }, about };
}

function flag(value: boolean, about: string): Parameter {
  return { value, range: { kind: "boolean" }, about };
}

const WORDS = ["none", "attempt", "request"] as const;

/** All parameters. */
export const PARAMETERS: Readonly<Record<ParameterName, Parameter>> = {
  "load.product": number(800, "product pages a second", 0, 100_000),
  "load.cart": number(1_200, "cart views a second", 0, 100_000),
  "load.checkout": number(60, "checkouts a second", 0, 100_000),
  "load.factor": number(1, "multiplies the three loads", 0, 100),
  "shop-api.instances": whole(4, "instances of shop-api", 1, 1_000),
  "shop-api.places": whole(100, "requests that one of them works on at once", 1),
  "shop-api.workMs": number(10, "shop-api's own work, fixed, before it calls stock"),
  "prices.workMs": number(0, "what a price takes, fixed; 0: no calls to prices, as in the page's runs"),
  "stock.places": whole(128, "stock's workers, one tier", 1),
  "db.connections": whole(8, "queries that the database runs at once", 1),
  "db.queryMs": number(4, "mean query time, exponential"),
  "hiccup.factor": number(10, "how many times slower queries are that start in the hiccup", 0.001, 10_000),
  "hiccup.fromS": number(0, "when the hiccup begins", -15, 86_400),
  "hiccup.toS": number(20, "when it ends", -15, 86_400),
  "app.timeoutMs": number(2_000, "an app's patience with one attempt", 1),
  "app.attempts": whole(3, "an app's attempts for one action", 1, 100),
  "app.backoffMs": number(0, "full jitter from 0 to this before an app's retry; 0: at once"),
  "app.retry503": flag(
    true,
    "whether an app tries again after an error, or only when it got no answer at all",
  ),
  "shop-api.stock.timeoutMs": number(1_000, "shop-api's timeout of one attempt at stock", 1),
  "shop-api.stock.attempts": whole(3, "its attempts for one call", 1, 100),
  "shop-api.stock.backoffMs": number(0, "full jitter from 0 to this before its retry; 0: at once"),
  "shop-api.reserve.timeoutMs": number(0, "the timeout of reserves alone; 0: the same as for all"),
  "shop-api.retry503": flag(true, "whether shop-api tries again after stock's 503"),
  "stock.db.timeoutMs": number(5_000, "stock's timeout of one query, its wait for a connection included", 1),
  "stock.db.attempts": whole(3, "stock's attempts for one query", 1, 100),
  "deadline.send": {
    value: "none",
    range: { kind: "word", words: WORDS },
    about: "the time left that goes along with a call: the attempt's own, or the whole request's",
  },
  "deadline.marginMs": number(0, "taken off what is sent"),
  "link.cancel": flag(false, "whether a caller that gives up says so"),
  "stall.probability": number(0, "the share of calls to stock that get stuck on their way", 0, 1),
  "stall.ms": number(250, "for how long"),
  "shop-api.stock.hedgeMs": number(0, "a call to stock that takes longer is hedged; 0: none is"),
  "link.cancelLost": flag(false, "whether shop-api's cancels are lost on the way to stock"),
  budget: flag(false, "a retry budget in each shop-api instance"),
  "budget.ratio": number(0.1, "tokens that a first attempt earns", 0, 1),
  "budget.burst": whole(10, "tokens that a full bucket holds"),
  breaker: flag(false, "a breaker per shop-api instance and operation of stock"),
  "breaker.window": whole(20, "outcomes it decides on", 1, 100_000),
  "breaker.windowMs": number(
    0,
    "decides on the last ms instead, with at least 20 outcomes; 0: on a count",
    0,
    3_600_000,
  ),
  "breaker.openMs": number(5_000, "how long it stays open, exactly", 1),
  "breaker.probes": whole(3, "probes that must pass", 1, 1_000),
  "breaker.probeTimeoutMs": number(100, "a probe's own timeout", 1),
  "breaker.countRefusals": flag(true, "whether a full gate counts as a failed call, as on the page"),
  "bulkhead.limit": whole(0, "calls to stock at once per shop-api instance; 0: no cap"),
  brownout: flag(false, "a cart view whose stock call fails is shown without badges"),
};

/** The parameters as shipped. */
export function asShipped(): BasketlyParameters {
  const values = Object.entries(PARAMETERS).map(([name, { value }]) => [name, value]);
  return Object.fromEntries(values) as unknown as BasketlyParameters;
}
