// A handler and a server that do what they should not, and the moments at which a request may be given up: played on
// virtual time against a dispatcher that is scripted.
import type { Dispatcher } from "undici";
import { describe, expect, it } from "vitest";
import { VirtualRuntime } from "../../testing/index.ts";
import { guard, type UndiciGuardOptions } from "./index.ts";

type Handler = Required<Dispatcher.DispatchHandler>;

/** One request as the dispatcher has it: the test plays undici's part. */
class Sent {
  readonly log: string[] = [];
  readonly handler: Handler;
  readonly options: Dispatcher.DispatchOptions;
  readonly controller = {
    rawHeaders: null,
    rawTrailers: null,
    aborted: false,
    paused: false,
    reason: null,
    pause: () => void this.log.push("pause"),
    resume: () => void this.log.push("resume"),
    abort: (reason: Error) => {
      this.log.push("abort");
      this.handler.onResponseError(this.controller as never, reason);
    },
  };

  constructor(options: Dispatcher.DispatchOptions, handler: Handler) {
    this.options = options;
    this.handler = handler;
    handler.onRequestStart(this.controller as never, {});
  }

  head(status: number): void {
    this.handler.onResponseStart(this.controller as never, status, {}, "");
  }

  data(bytes: number): void {
    this.handler.onResponseData(this.controller as never, Buffer.alloc(bytes));
  }

  end(): void {
    this.handler.onResponseEnd(this.controller as never, {});
  }
}

const turn = () => new Promise(setImmediate);

function made(options: Partial<UndiciGuardOptions> = {}) {
  const runtime = new VirtualRuntime();
  const sent: Sent[] = [];
  const dispatch = guard(
    { name: "stock", ...options },
    runtime,
  )((request, handler) => {
    sent.push(new Sent(request, handler as Handler));
    return true;
  });
  /** Asks, and gives what the handler hears. */
  const ask = (handler: Partial<Dispatcher.DispatchHandler> = {}, more: object = {}) => {
    const heard: string[] = [];
    const hear =
      (name: keyof Dispatcher.DispatchHandler, tell: (...all: never[]) => string) =>
      (...all: never[]): void => {
        heard.push(tell(...all));
        (handler[name] as ((...all: never[]) => void) | undefined)?.(...all);
      };
    dispatch({ origin: "http://a", path: "/", method: "GET", ...more } as Dispatcher.DispatchOptions, {
      onRequestStart: hear("onRequestStart", () => "start") as never,
      onResponseStart: hear("onResponseStart", (_: never, status: number) => `head ${status}`) as never,
      onResponseEnd: hear("onResponseEnd", () => "end") as never,
      onResponseError: hear(
        "onResponseError",
        (_: never, error: Error) => `error ${error?.message}`,
      ) as never,
    });
    return heard;
  };
  return { ask, runtime, sent };
}

const stop = (controller: Dispatcher.DispatchController) => controller.abort(new Error("enough"));
const fail = () => {
  throw new Error("the handler's own fault");
};

describe("a guarded request of a hostile handler", () => {
  it.each([["text"], [[1, 2]], [{ [Symbol.iterator]: fail }]])(
    "has headers of no known form: %s",
    async (headers) => {
      const { ask, sent } = made();
      const heard = ask({}, { headers });
      await turn();
      expect(heard.filter((each) => each.startsWith("error")).length).toBe(1);
      expect(sent.length).toBe(0);
    },
  );

  it("throws when it starts", async () => {
    const { ask, sent } = made();
    const heard = ask({ onRequestStart: fail });
    await turn();
    expect(heard).toEqual(["start", "error the handler's own fault"]);
    expect(sent.length).toBe(0);
  });

  it("aborts when it starts, at the head, at the end: it hears of that once", async () => {
    const { ask, sent } = made();
    const atStart = ask({ onRequestStart: stop });
    const atHead = ask({ onResponseStart: stop });
    const atEnd = ask({ onResponseEnd: stop });
    sent[0]?.head(200);
    sent[1]?.head(200);
    sent[1]?.end();
    await turn();
    expect(atStart).toEqual(["start", "error enough"]);
    expect(atHead).toEqual(["start", "head 200", "error enough"]);
    expect(atEnd).toEqual(["start", "head 200", "end"]);
    expect(sent[0]?.log).toContain("abort");
  });

  it("throws at the head of a reply that was held: that one is ended", async () => {
    const { ask, sent } = made();
    const heard = ask({ onResponseStart: fail });
    sent[0]?.head(503);
    await turn();
    expect(heard).toEqual(["start", "head 503", "error the handler's own fault"]);
    expect(sent[0]?.log).toEqual(["pause", "abort"]);
  });

  it("pauses before there is anything: the reply is paused from its head on", async () => {
    const { ask, sent } = made();
    ask({ onRequestStart: (controller) => controller.pause() });
    sent[0]?.head(200);
    expect(sent[0]?.log).toEqual(["pause"]);
  });
});

describe("a bad reply that is held", () => {
  const retrying = { operation: { retry: { attempts: 2 } } };

  it("is let go when the request is aborted meanwhile", async () => {
    const { ask, sent } = made(retrying);
    let controller: Dispatcher.DispatchController | undefined;
    const heard = ask({
      onRequestStart: (its) => {
        controller = its;
      },
    });
    sent[0]?.head(503);
    await turn();
    controller?.abort(new Error("enough"));
    await turn();
    expect(heard).toEqual(["start", "error enough"]);
    expect(sent[0]?.log).toEqual(["pause", "resume"]);
  });

  it("is let go when a hedge has answered well", async () => {
    const { ask, runtime, sent } = made({ operation: { hedge: { delayMs: 10 } } });
    const heard = ask();
    runtime.advance(10);
    sent[0]?.head(503);
    await turn();
    sent[1]?.head(200);
    sent[1]?.end();
    await turn();
    expect(heard).toEqual(["start", "head 200", "end"]);
    expect(sent.map(({ log }) => log)).toEqual([["pause", "resume"], []]);
  });

  it("is let go when that of a hedge takes its place", async () => {
    const { ask, runtime, sent } = made({ operation: { hedge: { delayMs: 10 } } });
    const heard = ask();
    runtime.advance(10);
    sent[0]?.head(503);
    await turn();
    sent[1]?.head(500);
    await turn();
    sent[1]?.end();
    expect(heard).toEqual(["start", "head 500", "end"]);
    expect(sent.map(({ log }) => log)).toEqual([
      ["pause", "resume"],
      ["pause", "resume"],
    ]);
  });

  it("is dropped when more of it comes than anybody wants to read", async () => {
    const { ask, runtime, sent } = made(retrying);
    ask();
    sent[0]?.head(503);
    await turn();
    runtime.runToIdle();
    for (let n = 0; n < 3; n++) sent[0]?.data(60_000);
    expect(sent[0]?.log).toEqual(["pause", "resume", "abort"]);
  });

  it("touches its connection no more when it has ended already", async () => {
    const { ask, runtime, sent } = made(retrying);
    ask();
    sent[0]?.head(503);
    sent[0]?.end();
    await turn();
    runtime.runToIdle();
    expect(sent.length).toBe(2);
    expect(sent[0]?.log).toEqual(["pause"]);
  });
});

describe("heads that come before the response (1xx)", () => {
  it("are passed on, and neither end the attempt nor keep its place", async () => {
    const { ask, sent } = made({ bulkhead: { limit: 1 } });
    for (let n = 0; n < 3; n++) {
      const heard = ask();
      for (const status of [102, 103, 200]) sent[n]?.head(status);
      sent[n]?.end();
      await turn();
      expect(heard).toEqual(["start", "head 102", "head 103", "head 200", "end"]);
    }
  });

  it("do not make a bad reply a good one", async () => {
    const { ask, runtime, sent } = made({ operation: { retry: { attempts: 2 } } });
    const heard = ask();
    sent[0]?.head(103);
    sent[0]?.head(503);
    await turn();
    runtime.runToIdle();
    sent[1]?.head(200);
    sent[1]?.end();
    await turn();
    expect(heard).toEqual(["start", "head 103", "head 200", "end"]);
  });
});

it("never hedges a body that can be sent once", async () => {
  const { ask, runtime, sent } = made({
    operation: { hedge: { delayMs: 10 }, breaker: { window: { calls: 1 } } },
  });
  const body = (async function* () {})();
  const heard = ask({}, { method: "PUT", body });
  await turn();
  runtime.advance(1_000);
  await turn();
  expect(sent.length).toBe(1);
  sent[0]?.head(200);
  sent[0]?.end();
  await turn();
  expect(heard).toEqual(["start", "head 200", "end"]);
  expect(ask({}, { method: "PUT" })).toEqual(["start"]);
});

it("never repeats a body that can be sent once, however its connection failed", async () => {
  const { ask, runtime, sent } = made({ operation: { retry: { attempts: 3 } } });
  const heard = ask({}, { method: "PUT", body: (async function* () {})() });
  sent[0]?.controller.abort(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
  await turn();
  runtime.runToIdle();
  expect([sent.length, heard]).toEqual([1, ["start", "error reset"]]);
});
