// Nothing that is committed knows the machine it was made on.
import type { Rule } from "../rule.ts";

// Put together from parts, so that this file does not break its own rule.
const folders = ["work", "tmp", "root", "home"].join("|");
const absolute = new RegExp(`(?<![\\w.~*}-])/(?:${folders})/`);
const host = new RegExp(`https?://[\\w.-]*(?:${["registry", "mirror"].join("|")})[\\w.-]*`, "i");
const resolved = /^\s*"resolved": "https?:/;

const at = (...parts: string[]): string => parts.join("/");

export const noMachine: Rule = {
  name: "no path of a machine, no registry host",
  check: (files) =>
    files.flatMap(({ path, text }) =>
      text.split("\n").flatMap((content, index) => {
        const line = index + 1;
        const found = [];
        if (absolute.test(content)) {
          found.push({
            path,
            line,
            message: "an absolute path of one machine: say it from the root of the repo",
          });
        }
        if (host.test(content) || (path.endsWith("package-lock.json") && resolved.test(content))) {
          found.push({
            path,
            line,
            message: "a registry host: npm knows its registry (.npmrc keeps it out of the lock file)",
          });
        }
        return found;
      }),
    ),
  planted: [
    { files: { "docs/a.md": `See ${at("", "work", "main", "src")}.` }, says: /absolute path/ },
    { files: { "src/core/a.ts": `const log = "${at("", "tmp", "log")}";` }, says: /absolute path/ },
    {
      files: { "README.md": `npm i --${"registry"}=https://${"registry"}.example.org` },
      says: /registry host/,
    },
    {
      files: { "package-lock.json": '  "resolved": "https://packages.example.org/a.tgz",' },
      says: /registry host/,
    },
  ],
  clean: {
    "docs/a.md": `See src/${at("work", "a.ts")} and https://example.org/${at("tmp", "x")}.`,
    "package-lock.json": '  "resolved": "cli",',
  },
};
