import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{src,test,bench,cli,shop}/**/*.test.ts"],
    update: "none", // a snapshot is written only when somebody asks (`--update`), never because it is missing
    exclude: ["**/node_modules/**", "**/dist/**"],
    globalSetup: ["test/lib/postgres-host.ts"], // starts nothing until a test asks for it
    testTimeout: 300_000, // no test has a wall-clock limit: this one only ends a test that hangs
  },
});
