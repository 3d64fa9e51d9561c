/** The argument that says which PostgreSQL to use. */
import type { Argument } from "./arguments.ts";

/** `--postgres URL`. */
export const postgresUrl: Argument<string | undefined> = {
  fallback: undefined,
  allowed: "a URL, postgres://user:password@host:port/database",
  read: (text) => (/^postgres(?:ql)?:\/\/[^/\s]+/.test(text) ? text : undefined),
  about: "use this server (a superuser is not needed), and start none",
};
