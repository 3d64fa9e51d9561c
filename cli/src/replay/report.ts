/** A replay for people: a row a second, a chart, two sentences. */
import type { Replay, Second } from "plimsoll/sim";

interface Column {
  readonly title: string;
  readonly of: (second: Second) => number | string;
}

const columns: readonly Column[] = [
  { title: "time", of: ({ at }) => clock(at) },
  { title: "offered", of: (s) => s.offered },
  { title: "goodput", of: (s) => s.goodput },
  { title: "degraded", of: (s) => s.cartDegraded },
  { title: "failed", of: (s) => s.failed },
  { title: "to stock", of: (s) => s.stockCalls },
  { title: "retries", of: (s) => s.retries },
  { title: "timeouts", of: (s) => s.timeouts },
  { title: "refused", of: ({ refused }) => Object.values(refused).reduce((sum, n) => sum + n, 0) },
  { title: "db useful", of: (s) => s.dbUseful },
  { title: "for nobody", of: (s) => s.dbForNobody },
  { title: "queued", of: (s) => s.queued },
  { title: "in stock", of: (s) => s.insideStock },
];

/** The text of a replay. */
export function report(replay: Replay): string {
  const { setting, seed, seconds, overrides, hash, events } = replay;
  const changed = Object.entries(overrides).map(([key, value]) => ` ${key}=${value}`);
  return [
    `Basketly, setting ${setting}, seed ${seed}${changed.length > 0 ? `, with${changed.join("")}` : ""}`,
    "",
    ...table(seconds),
    "",
    ...chart(seconds),
    "",
    ...sentences(replay),
    `${events} events, hash ${hash}`,
    "",
  ].join("\n");
}

function table(seconds: readonly Second[]): string[] {
  const cells = [
    columns.map(({ title }) => title),
    ...seconds.map((second) => columns.map((column) => String(column.of(second)))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0)));
  return cells.map((row) => row.map((cell, index) => cell.padStart(widths[index] ?? 0)).join("  "));
}

const LEVELS = "▁▂▃▄▅▆▇█";

function chart(seconds: readonly Second[]): string[] {
  const most = Math.max(1, ...seconds.map(({ offered }) => offered));
  const line = (of: (second: Second) => number) =>
    seconds
      .map((second) => {
        const share = Math.min(1, of(second) / most);
        return share === 0 ? " " : LEVELS[Math.min(LEVELS.length - 1, Math.floor(share * LEVELS.length))];
      })
      .join("");
  const zero = seconds.findIndex(({ at }) => at === 0);
  return [
    `     goodput |${line((s) => s.goodput)}|`,
    `    degraded |${line((s) => s.cartDegraded)}|`,
    `db, wasted   |${line((s) => s.dbForNobody)}|`,
    `             ${" ".repeat(zero + 1)}^ 20:00:00; a full block is ${most} a second`,
  ];
}

function sentences({ hiccup, recoveredAtS, seconds }: Replay): string[] {
  const round = (value: number) => String(Math.round(value));
  const more = hiccup.cartDegraded > 0 ? `, and ${round(hiccup.cartDegraded)} without badges` : "";
  const last = clock((seconds.at(-1)?.at ?? 0) + 1);
  return [
    `In the hiccup ${round(hiccup.goodput)} of ${round(hiccup.offered)} actions a second were answered in full${more}; ${round(hiccup.failed)} failed.`,
    recoveredAtS === null
      ? `It has not recovered by ${last}.`
      : `It recovered at ${clock(recoveredAtS)}: from then on at least 95% of what was offered was answered in full.`,
  ];
}

/** Seconds after 20:00:00 as a time of day. */
function clock(at: number): string {
  const second = 20 * 3600 + at;
  const part = (value: number) => String(Math.floor(value)).padStart(2, "0");
  return `${part((second / 3600) % 24)}:${part((second / 60) % 60)}:${part(second % 60)}`;
}
