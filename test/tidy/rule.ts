import { type SourceFile, sourceFile } from "../lib/source.ts";

export interface Violation {
  readonly path: string;
  readonly line: number;
  /** What is wrong, and what to do instead. */
  readonly message: string;
}

/** Files made up for a test of a rule: text by path. */
export type Fixture = Readonly<Record<string, string>>;

/**
 * A rule is a pure function from files to violations. It carries its own proof: a wall that sees nothing passes
 * just as quietly as one that holds, so each rule names breaches that it must report and files that it must let be.
 */
export interface Rule {
  readonly name: string;
  check(files: readonly SourceFile[]): Violation[];
  /** Each is a breach, with what the message must say. */
  readonly planted: readonly { readonly files: Fixture; readonly says: RegExp }[];
  /** Nothing in here may be reported. */
  readonly clean: Fixture;
}

export function filesOf(fixture: Fixture): SourceFile[] {
  return Object.entries(fixture).map(([path, text]) => sourceFile(path, text));
}
