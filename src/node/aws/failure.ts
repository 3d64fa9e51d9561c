/** What an error of the SDK means: its families, and `Retry-After` where a service does not use AWS's own header. */
import { type Failed, failed } from "../../core/call.ts";
import { awsMeaning } from "../../core/classifiers/aws.ts";
import { field } from "../../core/classifiers/meaning.ts";
import { classify } from "../../core/classify.ts";
import { retryAfterMs } from "../wire/retry-after.ts";

/** The failure that an error of the SDK stands for. */
export function failureOf(error: unknown): Failed {
  const meaning = awsMeaning(error);
  if (meaning === undefined) return classify({ error }) as Failed;
  const outcome = failed(error, meaning.class, meaning);
  const headers = field(field(error, "$response"), "headers");
  const after = field(headers, "retry-after");
  if (meaning.pushback !== undefined || meaning.class === "permanent" || typeof after !== "string")
    return outcome;
  return { ...outcome, pushback: retryAfterMs(after, String(field(headers, "date") ?? ""), Date.now()) };
}
