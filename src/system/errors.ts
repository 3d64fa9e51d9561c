/** What is wrong with a system file: every place, what stands there, and what may. */

/** One thing that is wrong. */
export interface SystemIssue {
  /** Where, as one would write it in code. */
  readonly path: string;
  readonly value: unknown;
  /** What may stand there. */
  readonly allowed: string;
}

/** A system file that may not be used. Carries all that was found, not only the first. */
export class SystemError extends Error {
  override readonly name = "SystemError";
  readonly issues: readonly SystemIssue[];

  constructor(issues: readonly SystemIssue[]) {
    super(issues.map(describe).join("\n"));
    this.issues = issues;
  }
}

function describe({ path, value, allowed }: SystemIssue): string {
  return `${path === "" ? "the file" : path}: ${show(value)} is not allowed; allowed: ${allowed}`;
}

function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "function") return "a function";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  const text = jsonOf(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}

/** What stands in a file that is wrong may be anything: in circles, too deep to be written, or with a `toJSON` that throws. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Array.isArray(value) ? "an array" : "an object";
  }
}
