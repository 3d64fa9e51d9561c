/**
 * How long a request may take. The first header of the list that says something counts; one that cannot be read is
 * as good as absent (or a reason to answer 400), and is never guessed at. Then the server's own cap.
 */
import type { IncomingHttpHeaders } from "node:http";
import { parseTimeLeft } from "../wire/deadline-header.ts";
import type { HandlerSettings } from "./options.ts";

/** Ms that a request has from its arrival, `Infinity` for no limit, or `invalid` if it is to be answered by 400. */
export function timeLeftOf(headers: IncomingHttpHeaders, settings: HandlerSettings): number | "invalid" {
  let left = settings.defaultTimeoutMs;
  for (const header of settings.deadlineHeaders) {
    const value = headers[header];
    if (value === undefined) continue;
    const said = parseTimeLeft(header, String(value));
    if (typeof said === "number") {
      left = said;
      break;
    }
    if (said === "invalid" && settings.invalidDeadline === "reject") return "invalid";
  }
  return Math.min(left, settings.maxTimeoutMs);
}
