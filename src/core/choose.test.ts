import { describe, expect, it } from "vitest";
import { fault, Lab, only } from "../../test/lib/lab.ts";
import { immediately } from "./backoff/machine.ts";
import { OptionError } from "./errors.ts";
import { hedge } from "./hedge/guard.ts";
import { retry } from "./retry/guard.ts";

const REPLICAS = ["a", "b", "c"];

describe("the choice of a destination", () => {
  it("takes one that the call has not tried, on a retry", () => {
    const lab = new Lab();
    const stack = lab.stack([retry({ attempts: 3, backoff: immediately })]);
    const firsts = new Set<string>();
    for (let i = 0; i < 30; i++) {
      const chosen: string[] = [];
      const call = lab.start(stack, (attempt) => {
        chosen.push(attempt.choose(REPLICAS));
        attempt.fail(fault("transient"));
      });
      only(call, "failed");
      expect(chosen.toSorted()).toEqual(REPLICAS);
      firsts.add(chosen[0] as string);
    }
    expect([...firsts].toSorted()).toEqual(REPLICAS);
  });

  it("takes another failure domain for a hedge", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 5 })]);
    for (let i = 0; i < 20; i++) {
      const chosen: string[] = [];
      lab.start(stack, (attempt) => {
        chosen.push(attempt.choose(["here", "there"]));
        lab.runtime.after(10, () => attempt.succeed(0));
      });
      lab.runtime.runToIdle();
      expect(chosen.toSorted()).toEqual(["here", "there"]);
    }
  });

  it("takes any when all were tried, and forgets with the call", () => {
    const lab = new Lab();
    const stack = lab.stack([retry({ attempts: 4, backoff: immediately })]);
    const chosen: string[] = [];
    lab.start(stack, (attempt) => {
      chosen.push(attempt.choose(["only"]));
      attempt.fail(fault("transient"));
    });
    expect(chosen).toEqual(["only", "only", "only", "only"]);
  });

  it("gives the same choices for the same seed, whatever else draws", () => {
    const choices = (): string[] => {
      const lab = new Lab(7);
      const stack = lab.stack([]);
      return Array.from({ length: 20 }, () => {
        let chosen = "";
        lab.start(stack, (attempt) => {
          chosen = attempt.choose(REPLICAS);
          lab.runtime.random.next();
          attempt.succeed(0);
        });
        return chosen;
      });
    };
    expect(choices()).toEqual(choices());
  });

  it("refuses an empty list, and answers an attempt that is over", () => {
    const lab = new Lab();
    const call = lab.start(lab.stack([]), (attempt) => attempt.succeed(0));
    const [attempt] = call.sent;
    expect(attempt?.choose(["a"])).toBe("a");
    for (const wrong of [[], null, "ab"]) expect(() => attempt?.choose(wrong as never)).toThrow(OptionError);
  });
});
