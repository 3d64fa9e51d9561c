/** Basketly's settings by name: what each changes of the system as shipped. Source: the Basketly page, Parts 1–10. */
import { asShipped, type BasketlyParameters } from "./parameters.ts";

type Changes = Partial<BasketlyParameters>;

const c1: Changes = {
  "shop-api.stock.timeoutMs": 60,
  "deadline.send": "attempt",
  "link.cancel": true,
};
const c2: Changes = {
  ...c1,
  "shop-api.stock.attempts": 2,
  "shop-api.retry503": false,
  "stock.db.attempts": 1,
  "app.attempts": 2,
  "app.retry503": false,
};
const c3: Changes = { ...c2, "shop-api.stock.backoffMs": 25, "app.backoffMs": 1_000 };
const c4: Changes = { ...c3, budget: true };
const calm: Changes = { "hiccup.factor": 1 };
/** Replay H: the database is well, and 1 call in 100 gets stuck before it takes a worker. */
const stalls: Changes = { ...calm, "stall.probability": 0.01, "stall.ms": 250 };
const once: Changes = { "app.attempts": 1, "shop-api.stock.attempts": 1, "stock.db.attempts": 1 };

/** What each setting changes. */
const changes: Readonly<Record<string, Changes>> = {
  C0: {},
  C1: c1,
  C2: c2,
  C3: c3,
  C4: c4,
  guarded: { ...c4, breaker: true, "bulkhead.limit": 12, brownout: true },
  "10z": { ...c1, "deadline.send": "request", "link.cancelLost": true },
  "10z-cancel": { ...c1, "deadline.send": "request" },
  "13a": { ...c4, "shop-api.instances": 8 },
  "17y": { "app.attempts": 1, "shop-api.stock.attempts": 1, "stock.db.attempts": 1 },
  "C0-cap40": { "bulkhead.limit": 40 },
  "C0-cap60": { "bulkhead.limit": 60 },
  "H-none": { ...stalls, ...once, "shop-api.stock.timeoutMs": 2_000 },
  "H-retry": { ...c2, ...stalls, "app.attempts": 1 },
  "H-hedge": { ...c2, ...stalls, ...once, "shop-api.stock.timeoutMs": 2_000, "shop-api.stock.hedgeMs": 12.2 },
  healthy: calm,
  "healthy-5ms": { ...c2, ...calm, "shop-api.stock.timeoutMs": 5 },
};

/** The names of all settings. */
export const SETTINGS: readonly string[] = Object.keys(changes);

/** The parameters of a setting, or undefined if there is no such setting. */
export function parametersOf(setting: string): BasketlyParameters | undefined {
  if (!Object.hasOwn(changes, setting)) return undefined;
  return { ...asShipped(), ...changes[setting] };
}
