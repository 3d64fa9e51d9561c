import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{src,test,bench,cli,shop,web}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
  },
});
