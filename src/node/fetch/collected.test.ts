// A `Request` hears the signal that it was made with only while somebody holds it. Its reply does, so that whoever reads
// the body can still be told to stop.
import { expect, it } from "vitest";
import { runSource } from "../../../scripts/lib/bundle.mjs";

it("an abort reaches a body although the request has been collected", { timeout: 120_000 }, async () => {
  const { code, stdout, stderr } = await runSource(
    `
    import { createServer } from "node:http";
    import { dependency } from "~/src/index.node.ts";
    import { fetch, guard } from "~/src/node/fetch/index.ts";
    const server = createServer((_, response) => void response.writeHead(200, { "content-length": 100 }).write("green "));
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    const url = "http://127.0.0.1:" + server.address().port;
    const guarded = guard({ name: "stock" });
    const view = dependency({ name: "stock" }).operation("view", { classify: () => undefined });
    const asks = {
      guarded: (signal) => guarded(url, { signal }),
      "guarded Request": (signal) => guarded(new Request(url, { signal })),
      "Request of an attempt": (signal) => view((attempt) => fetch(new Request(url, { signal }), attempt)),
    };
    for (const [name, ask] of Object.entries(asks)) {
      const leaving = new AbortController();
      const reply = await ask(leaving.signal);
      for (let i = 0; i < 5; i++) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      leaving.abort(new Error("gone"));
      // Nothing bounds it: it would wait for ever.
      console.log(name, await reply.text().catch((error) => error.message));
    }
    process.exit();
  `,
    ["--expose-gc"],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe("guarded gone\nguarded Request gone\nRequest of an attempt gone\n");
});
