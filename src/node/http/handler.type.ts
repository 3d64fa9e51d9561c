// What must and must not compile around a guarded handler.
import { createServer, type RequestListener } from "node:http";
import { guardedHandler, type ServerStats } from "./index.ts";

const listener: RequestListener = guardedHandler(
  { bulkhead: { limit: 10 } },
  async (request, response, context) => {
    const left: number = context.timeLeftMs;
    context.signal.throwIfAborted();
    // @ts-expect-error what a handler is told of its request is not its to change
    context.tenant = "other";
    response.end(`${request.url} ${left}`);
  },
);
createServer(listener);

const { stats, bulkhead } = guardedHandler({}, (_, response) => void response.end());
const counts: ServerStats = stats;
bulkhead?.resize(20);
// @ts-expect-error counts are read
stats.served = 0;

// @ts-expect-error a limit without a unit is nobody's option
guardedHandler({ timeout: 5_000 }, () => {});
// @ts-expect-error a header that nobody knows how to read
guardedHandler({ deadlineHeaders: ["x-timeout"] }, () => {});
// @ts-expect-error there is nothing to guard
guardedHandler({});

export { counts };
