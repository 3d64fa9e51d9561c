// What must not compile around fetch: a raw reply handed to a guard that cannot tell a 503 from a success.
import { dependency, ok } from "../../index.node.ts";
import { fetch as guarded, type HttpError, type HttpFailure } from "./index.ts";

const stock = dependency({ name: "stock" });
const view = stock.operation("view", { attemptTimeoutMs: 60 });
const judged = stock.operation("judged", {
  classify: (result) => ("value" in result ? ok(result.value) : undefined),
});
const url = "http://stock/";

// @ts-expect-error the reply has not been read: read it within the work
view((attempt) => guarded(url, attempt));
// @ts-expect-error the platform's own fetch has not even been judged
view(({ signal }) => fetch(url, { signal }));
// @ts-expect-error nor by its outcome
view.outcome((attempt) => guarded(url, attempt));
// @ts-expect-error a clone of it is no better
view(async (attempt) => (await guarded(url, attempt)).clone());

const text: Promise<string> = view((attempt) => guarded(url, attempt).then((response) => response.text()));
const reply: Promise<Response> = judged((attempt) => guarded(url, attempt));

view(async (attempt) => {
  // @ts-expect-error the request follows the attempt
  await guarded(url, attempt, { signal: attempt.signal });
  // @ts-expect-error an attempt is what makes it a part of a guarded call
  await guarded(url);
  await guarded(new URL(url), attempt, { method: "PUT", body: "1", headers: { accept: "text/plain" } });
  return (await guarded(new Request(url), attempt)).ok;
});

const failure = (error: HttpError): HttpFailure => error.failure;

export { failure, reply, text };
