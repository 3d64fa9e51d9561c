/** Traces in print: one cart view and one checkout in health, and one of each within the trouble. */
import { type Plan, parametersFor } from "./plan.ts";
import { table } from "./table.ts";
import { deepest, type Step, type Trace, wrongFalls } from "./trace.ts";

/** The traces that are shown: of each kind, in health and within the trouble, the one that got furthest. */
export function followed(traces: readonly Trace[]): Trace[] {
  const shown: Trace[] = [];
  for (const inTrouble of [false, true]) {
    for (const action of ["cart", "checkout"]) {
      const all = traces.filter(
        ({ name, steps }) => name.startsWith(`${action} `) && (steps[0]?.atMs ?? 0) >= 0 === inTrouble,
      );
      const one = deepest(all);
      if (one !== undefined) shown.push(one);
    }
  }
  return shown;
}

/** The traces, hop by hop, and whether the time left fell in them as it must. */
export function traceReport(traces: readonly Trace[], plan: Plan): string {
  const marginMs = parametersFor(plan)["deadline.marginMs"];
  const wrong = traces.flatMap((trace) => wrongFalls(trace, marginMs));
  const law =
    wrong.length > 0
      ? `It did not fall as it must: ${wrong.join("; ")}.`
      : `At every hop the time left fell by what had passed, and by the margin of ${marginMs} ms on the way to the next.`;
  return [...traces.map(traceTable), law].join("\n\n");
}

/** Services further in stand further to the right. */
const INDENT: Readonly<Record<Step["hop"], number>> = {
  app: 0,
  "shop-api": 1,
  prices: 2,
  stock: 2,
  database: 3,
};

function traceTable({ name, steps }: Trace): string {
  const from = steps[0]?.atMs ?? 0;
  const rows = steps.map((step) => ({
    name: `${"  ".repeat(INDENT[step.hop])}${step.hop}`,
    cells: [(step.atMs - from).toFixed(1), left(step), said(step)],
  }));
  const second = from / 1000;
  const lines = table(
    ["at ms", "time left ms", ""],
    rows.map((row) => ({ ...row, cells: row.cells.slice(0, 2) })),
  );
  const [titles = "", ...rest] = lines.split("\n");
  const words = rest.map((line, index) => `${line}  ${rows[index]?.cells[2] ?? ""}`.trimEnd());
  return [`${name}, at second ${second.toFixed(1)}:`, titles, ...words].join("\n");
}

function left({ leftMs, what }: Step): string {
  if (Number.isFinite(leftMs)) return leftMs.toFixed(1);
  return what === "ended" ? "" : "none said";
}

function said({ what, to, attempt, note }: Step): string {
  const words = what === "sent" ? `attempt ${attempt} to ${to}` : what;
  return note === undefined ? words : `${words}, ${note}`;
}
