import { describe, expect, it } from "vitest";
import type { PlimsollEvent } from "../core/events.ts";
import { VirtualRuntime } from "../testing/virtual-runtime.ts";
import { dependency } from "./dependency.ts";
import { listen } from "./listen.ts";

class Quiet extends VirtualRuntime {
  readonly heard: unknown[] = [];

  override uncaught(error: unknown): void {
    this.heard.push(error);
  }
}

describe("listen", () => {
  it("tells every listener every event, in order, until it is told to stop", async () => {
    const runtime = new VirtualRuntime();
    const call = dependency({ name: "stock" }, runtime).operation("view");
    const [first, second]: [string[], string[]] = [[], []];
    const stop = listen(({ type }: PlimsollEvent) => first.push(type), runtime);
    listen(({ type }: PlimsollEvent) => second.push(type), runtime);
    await call(() => 1);
    stop();
    await call(() => 1);
    const types = ["attempt.sent", "attempt.answered", "call.answered"];
    expect({ first, second }).toEqual({ first: types, second: [...types, ...types] });
  });

  it("keeps what one throws from calls and from the others, and builds nothing once all have stopped", async () => {
    const runtime = new Quiet();
    const call = dependency({ name: "stock" }, runtime).operation("view");
    const types: string[] = [];
    const stops = [
      listen(() => {
        throw new Error("a listener's own");
      }, runtime),
      listen(({ type }) => types.push(type), runtime),
    ];
    expect(await call(() => "answer")).toBe("answer");
    expect({ types: types.length, thrown: runtime.heard.length }).toEqual({ types: 3, thrown: 3 });
    for (const stop of stops) stop();
    expect(runtime.sink).toBeNull();
  });

  it("tells nobody anything once told to stop, though events are on their way", async () => {
    const runtime = new VirtualRuntime();
    const call = dependency({ name: "stock" }, runtime).operation("view");
    const types: string[] = [];
    const first = listen(() => stop(), runtime);
    const stop = listen(({ type }) => types.push(type), runtime);
    await call(() => 1);
    first();
    expect(types).toEqual([]);
  });

  it("takes a function, and nothing else", () => {
    for (const wrong of [undefined, null, 1, {}]) {
      expect(() => listen(wrong as never, new VirtualRuntime())).toThrow(
        expect.objectContaining({ name: "OptionError", field: "listener" }),
      );
    }
  });
});
