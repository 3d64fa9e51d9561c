/** Which limit of an attempt is the nearer one, for work that ends at it a little before the kernel would. */
import type { Attempt } from "../core/attempt.ts";

/** `timeout` for the attempt's own, `clipped` for the call's deadline. */
export function endOf({ call, sentAt, timeoutMs }: Attempt): "timeout" | "clipped" {
  return call.deadline - sentAt < timeoutMs ? "clipped" : "timeout";
}
