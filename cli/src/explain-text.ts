/** An explained system for people: sentences by operation, then what one action comes to. */
import type { ExplainedSystem } from "plimsoll/system";

/** The text of an explained system. */
export function explainText({ operations, paths }: ExplainedSystem): string {
  const guards = operations.map(
    ({ edge, operation, sentences }) =>
      `${edge}, ${operation}\n${sentences.map((each) => `  ${each}\n`).join("")}`,
  );
  const rows = paths.map(({ action, at, attempts }) => `  ${action}: up to ${attempts} at ${at}\n`);
  return `${guards.join("\n")}\nAttempts multiply. One action comes to, at worst:\n${rows.join("")}`;
}
