/** prices: always healthy. A price takes a fixed time. */

import { parametersFor, systemFor } from "../plan.ts";
import { type Orders, play, type Ready, type Report, type Role } from "../process.ts";
import { Seconds } from "../seconds.ts";
import { open, type Service } from "../service.ts";
import { sleep } from "../sleep.ts";
import { Notes } from "../trace.ts";

class Prices implements Role {
  #seconds: Seconds | null = null;
  readonly #notes = new Notes();
  #service!: Service;

  async prepare({ plan, port }: Orders): Promise<Ready> {
    const workMs = parametersFor(plan)["prices.workMs"];
    const place = { name: "prices", caller: "shop-api", port };
    this.#service = await open(systemFor(plan), place, {
      "/price": async ({ trace, arrivedAt, leftMs }) => {
        this.#notes.add(trace, { hop: "prices", what: "arrived", leftMs }, arrivedAt);
        await sleep(workMs);
        return { status: 200, body: { cents: 499 } };
      },
    });
    return { port: this.#service.port };
  }

  begin(zeroAtMs: number): void {
    this.#notes.zeroAtMs = zeroAtMs;
    this.#seconds = new Seconds(zeroAtMs);
    this.#seconds.sample();
  }

  async end(): Promise<Report> {
    const { all = [], vitals } = this.#seconds ?? {};
    return { seconds: all, vitals: vitals?.all ?? [], steps: this.#notes.steps };
  }
}

play(new Prices());
