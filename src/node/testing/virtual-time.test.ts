import { createServer } from "node:http";
import { expect, it } from "vitest";
import { fixed, OptionError } from "../../core/index.ts";
import { dependency } from "../../facade/index.ts";
import { virtualTime } from "./index.ts";

/** Passes through `turns` of the event loop, as streams and locks do. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => void setImmediate(resolve));
}

it("runs a user's retry and breaker in virtual time, with work that awaits", async () => {
  const time = virtualTime({ seed: 1 });
  const view = dependency({ name: "stock" }, time.runtime).operation("view", {
    idempotent: true,
    attemptTimeoutMs: 1_000,
    retry: { attempts: 2, backoff: { kind: "constant", delayMs: 5_000 } },
    breaker: { window: { calls: 4 }, openMs: 60_000, reopen: fixed(), probes: 1 },
  });
  let healthy = false;
  const load = async (attempt: { signal: AbortSignal }): Promise<string> => {
    await time.sleep(200, attempt); // the way there
    if (!healthy) await time.sleep(3_600_000, attempt); // an hour of silence
    return "only 3 left";
  };
  const at = await time.run(async () => {
    await expect(view(load)).rejects.toMatchObject({ code: "PLIMSOLL_TIMEOUT" });
    await expect(view(load)).rejects.toMatchObject({ code: "PLIMSOLL_TIMEOUT" });
    return time.now();
  });
  expect(at).toBe(2 * (1_000 + 5_000 + 1_000));
  expect(view.breaker?.state.name).toBe("open");
  await expect(time.run(() => view(load))).rejects.toMatchObject({ by: "breaker" });
  healthy = true;
  await time.advance(60_000);
  expect(await time.run(() => view(load))).toBe("only 3 left");
  expect([view.breaker?.state.name, time.now(), time.runtime.pending]).toEqual(["closed", at + 60_200, 0]);
});

it("sees what code arms after promises, ticks and turns of the event loop before it moves the clock on", async () => {
  const time = virtualTime();
  const seen: number[] = [];
  const code = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      for (let hops = 0; hops < 1_000; hops++) await null;
      await new Promise<void>((resolve) => process.nextTick(resolve));
      await turns(20);
      await time.sleep(10);
      seen.push(time.now());
    }
  };
  const other = time.sleep(1_000); // would drag the clock along if the code were not waited for
  await time.run(code);
  expect(seen).toEqual([10, 20, 30]);
  await time.advance(1_000 - 30);
  await other;
});

it("advances as far as it is told, and no further", async () => {
  const time = virtualTime({ startAtMs: 100 });
  let woken = 0;
  void (async () => {
    for (;;) {
      await time.sleep(10);
      woken++;
    }
  })();
  await time.advance(35);
  expect([time.now(), woken]).toEqual([135, 3]);
  await time.advance(0);
  await time.settle();
  expect([time.now(), woken]).toEqual([135, 3]);
  await time.advance(5);
  expect(woken).toBe(4);
});

it("ends a sleep when its attempt is given up, and leaves no timer", async () => {
  const time = virtualTime();
  const controller = new AbortController();
  const asleep = time.sleep(10_000, controller);
  const reason = new Error("gone");
  controller.abort(reason);
  await expect(asleep).rejects.toBe(reason);
  await expect(time.sleep(5, controller)).rejects.toBe(reason);
  expect(time.runtime.pending).toBe(0);
});

it("says so when code waits for what no timer brings about", async () => {
  const time = virtualTime();
  await expect(time.run(() => new Promise(() => {}))).rejects.toThrow("nothing is armed at 0 ms");
  await expect(time.run(() => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
  const thrown = (): never => {
    throw new Error("at once");
  };
  await expect(time.run(thrown)).rejects.toThrow("at once");
});

it("does not wait for I/O: time passes a reply that is on its way", async () => {
  const server = createServer((_, response) => response.end("late")).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const time = virtualTime();
  const view = dependency({ name: "stock" }, time.runtime).operation("view", { attemptTimeoutMs: 60_000 });
  const work = ({ signal }: { signal: AbortSignal }) =>
    fetch(`http://127.0.0.1:${port}/`, { signal }).then((response) => response.text());
  await expect(time.run(() => view(work))).rejects.toMatchObject({ code: "PLIMSOLL_TIMEOUT" });
  await new Promise((resolve) => server.close(resolve));
});

it("says so when code never comes to rest, and when two move the clock at once", async () => {
  const time = virtualTime();
  let stop = false;
  const spin = (): void => void (stop || setImmediate(spin));
  spin();
  await expect(time.settle()).rejects.toThrow("not at rest");
  stop = true;
  const first = time.advance(10);
  await expect(time.advance(10)).rejects.toThrow("await the one before it");
  await first;
  await expect(time.run(() => time.advance(10))).rejects.toThrow("await the one before it");
  await time.advance(10);
  expect(time.now()).toBe(20);
});

it("passes on what a listener threw", async () => {
  const time = virtualTime();
  time.runtime.after(10, () => {
    throw new Error("in a callback");
  });
  await expect(time.advance(20)).rejects.toThrow("in a callback");
});

it("refuses wrong numbers by name", async () => {
  const time = virtualTime();
  for (const ms of [NaN, -1, Infinity, 2 ** 31, "1" as never]) {
    await expect(time.advance(ms)).rejects.toThrow(OptionError);
    await expect(time.sleep(ms)).rejects.toThrow("sleep.ms");
  }
  expect(() => virtualTime({ seed: -1 })).toThrow("VirtualRuntime.seed");
});

it("gives the same run for the same seed", async () => {
  const run = async (seed: number): Promise<string> => {
    const time = virtualTime({ seed });
    const log: string[] = [];
    time.runtime.listen((event) => log.push(JSON.stringify(event)));
    const view = dependency({ name: "stock" }, time.runtime).operation("view", {
      idempotent: true,
      retry: { attempts: 3 },
    });
    let made = 0;
    const flaky = async (): Promise<number> => {
      await time.sleep(7);
      if (++made % 3 !== 0) throw new Error("no");
      return made;
    };
    await time.run(() => Promise.all([1, 2, 3].map(() => view.outcome(flaky))));
    return log.join("\n");
  };
  expect(await run(3)).toBe(await run(3));
  expect(await run(3)).not.toBe(await run(4));
});
