import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
const session = fileURLToPath(new URL("../dist/session.js", import.meta.url));

it("prints everything before it ends, however slowly it is read", async () => {
  const script = `
    import { command } from ${JSON.stringify(session)};
    await command(async () => {
      console.log("x".repeat(5_000_000));
      setTimeout(() => {}, 60_000);
    });`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], {
    maxBuffer: 10_000_000,
  });
  expect(stdout.length).toBe(5_000_001);
});
