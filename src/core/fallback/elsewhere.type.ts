// What must not compile: a write whose outcome is unknown, handed to another provider.
import {
  dependency,
  elsewhere,
  type Failed,
  type NotExecuted,
  notExecuted,
  type Outcome,
} from "../../index.node.ts";

const first = dependency({ name: "first" });
const second = dependency({ name: "second" }).operation("charge");

/** Only what certainly did not run may come here. */
const chargeElsewhere = (_because: NotExecuted): Promise<string> => second(async () => "charged");

const charge = first.operation("charge", { fallback: elsewhere(chargeElsewhere) });
const receipt: Promise<string> = charge(async () => "charged");

async function byHand(work: () => Promise<string>): Promise<unknown> {
  const outcome: Outcome<string> = await first.operation("charge").outcome(work);
  if (outcome.kind === "ok") return outcome.value;
  // @ts-expect-error it may have been charged already
  await chargeElsewhere(outcome);
  if (notExecuted(outcome)) return chargeElsewhere(outcome);
  const unknown: Failed = outcome;
  // @ts-expect-error likewise
  return chargeElsewhere(unknown);
}

// @ts-expect-error a plain fallback is given any failure
first.operation("charge", { fallback: chargeElsewhere });

export { byHand, receipt };
