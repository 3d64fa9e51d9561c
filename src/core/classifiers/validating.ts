/**
 * A validator of replies, as a judge: a reply that came is not yet an answer. One from which something is missing, or in
 * which something is wrong, is a failure of the dependency: it counts against it, and is asked for once more where that
 * is harmless. Its effect is unknown, since whoever sent half an answer has done something.
 * Source: the resilience notes, §01 (failures may be partial, and corrupt).
 */
import { degraded, failed, type Outcome, ok } from "../call.ts";
import { understood } from "../classify.ts";
import { OptionError, UnsoundReplyError } from "../errors.ts";
import type { Judge } from "../leaf.ts";
import { checkFunction } from "../options.ts";

/**
 * What a validator finds: all is there; less than all, by the callee's own word (`degraded`: an answer, marked as such);
 * something is missing that should be there; something is there that cannot be right.
 */
export type Soundness = "whole" | "degraded" | "partial" | "corrupt";

/**
 * Makes a judge for `classify` that asks `find` about every reply. An error, and a reply that `otherwise` judges, is left
 * to that; without it, to the library. A reply that is partial or corrupt fails with an `UnsoundReplyError`. A validator
 * that throws fails the call with what it throws, for good; so does one that says anything else.
 */
export function validating<T>(find: (reply: T) => Soundness, otherwise?: Judge): Judge {
  checkFunction("validating: find", find);
  if (otherwise !== undefined) checkFunction("validating: otherwise", otherwise);
  return (result, attempt): Outcome | undefined => {
    const judged = understood(otherwise?.(result, attempt));
    if (judged !== undefined && judged.kind !== "ok") return judged;
    if ("error" in result) return judged;
    const reply = judged === undefined ? result.value : judged.value;
    const soundness = find(reply as T);
    if (soundness === "whole") return judged ?? ok(reply);
    if (soundness === "degraded") return degraded(reply);
    if (soundness !== "partial" && soundness !== "corrupt")
      throw new OptionError(
        "what a validator returned",
        soundness,
        '"whole", "degraded", "partial" or "corrupt"',
      );
    const { dependency, operation } = attempt.call;
    return failed(new UnsoundReplyError(dependency, operation, soundness, reply), soundness);
  };
}
