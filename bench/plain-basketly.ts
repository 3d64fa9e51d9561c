/**
 * Basketly's healthy minute without any guard: plain callbacks on the same event queue, the same draws of the same
 * streams, the same places and queues, nothing else. What it costs to simulate is what guards are measured against.
 */
import { SeededRandom } from "plimsoll/core";
import { exponential } from "plimsoll/sim";
import { TimerQueue } from "plimsoll/testing";

const WORK_MS = 10;
const QUERY_MS = 4;
const PLACES = { shop: 100, stock: 128, connections: 8 };
const RATES = { product: 800, cart: 1_200, checkout: 60 };

/** A timer that calls back. */
class Event {
  dueAt = 0;
  sequence = 0;
  position = -1;
  earlier = null;
  later = null;
  readonly fire: () => void;

  constructor(fire: () => void) {
    this.fire = fire;
  }
}

/** Places, and who waits for one, first in, first out. */
class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  #next = 0;

  constructor(places: number) {
    this.#free = places;
  }

  take(then: () => void): void {
    if (this.#free === 0) this.#waiting.push(then);
    else {
      this.#free--;
      then();
    }
  }

  give(): void {
    const next = this.#waiting[this.#next];
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#next++;
    if (this.#next === 1024) {
      this.#waiting.splice(0, 1024);
      this.#next = 0;
    }
    next();
  }
}

/** Runs `ms` of Basketly without guards. Gives the number of events fired, and of actions answered. */
export function plainBasketly(ms: number, seed: number): { fired: number; answered: number } {
  const timers = new TimerQueue();
  const random = new SeededRandom(seed);
  let now = 0;
  let armed = 0;
  let fired = 0;
  let answered = 0;
  const after = (delayMs: number, fire: () => void): void => {
    const event = new Event(fire);
    event.dueAt = now + delayMs;
    event.sequence = ++armed;
    timers.push(event, now);
  };
  const shops = [1, 2, 3, 4].map(() => new Places(PLACES.shop));
  const stock = new Places(PLACES.stock);
  const connections = new Places(PLACES.connections);
  const instance = random.fork("instance");
  const queries = random.fork("queries");

  const query = (then: () => void): void =>
    stock.take(() =>
      connections.take(() =>
        after(exponential(QUERY_MS, queries), () => {
          connections.give();
          stock.give();
          then();
        }),
      ),
    );
  const action = (calls: boolean): void => {
    const shop = shops[Math.floor(instance.next() * shops.length)] as Places;
    const done = () => {
      shop.give();
      answered++;
    };
    shop.take(() => after(WORK_MS, calls ? () => query(done) : done));
  };
  for (const [name, perSecond] of Object.entries(RATES)) {
    const gaps = random.fork(`arrivals of ${name}`);
    const arrive = (): void => {
      after(exponential(1000 / perSecond, gaps), arrive);
      action(name !== "product");
    };
    after(exponential(1000 / perSecond, gaps), arrive);
  }
  for (let event = timers.first; event !== undefined && event.dueAt <= ms; event = timers.first) {
    timers.remove(event);
    now = event.dueAt;
    fired++;
    event.fire();
  }
  return { fired, answered };
}
