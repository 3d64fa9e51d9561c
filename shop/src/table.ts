/** Plain text: a table with titles above its columns, and a line of bars. */

/** A row of a table. */
export interface Row {
  readonly name: string;
  readonly cells: readonly string[];
}

/** Puts rows under titles, each column as wide as it must be. */
export function table(titles: readonly string[], rows: readonly Row[]): string {
  const first = Math.max(...rows.map((row) => row.name.length));
  const widths = titles.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => (row.cells[i] ?? "").length)),
  );
  const line = (name: string, cells: readonly string[]): string =>
    `${name.padEnd(first)}  ${cells.map((cell, i) => cell.padStart(widths[i] ?? 0)).join("  ")}`.trimEnd();
  return [line("", titles), ...rows.map((row) => line(row.name, row.cells))].join("\n");
}

const BARS = " ▁▂▃▄▅▆▇█";

/** A line of bars, a second each. */
export function bars(values: readonly number[], full: number): string {
  const step = (value: number): number => Math.max(0, Math.min(8, Math.round((value / full) * 8)));
  return values.map((value) => BARS[step(value)]).join("");
}
