/**
 * `npm run bench -- defects [--json]`: what peers were found to do wrong, tried again here, beside Plimsoll.
 *
 * Each scenario runs against the peer's package as installed, and against the nearest policy of Plimsoll; the same
 * question is asked of what was seen at both. Nothing is known beforehand: a peer that has mended a defect holds. It
 * takes about half a minute. The exit code is 1 if Plimsoll does not hold.
 */
import { existsSync, readFileSync } from "node:fs";
import { BREAKERS } from "./defects/breakers.ts";
import { CAPPED } from "./defects/caps.ts";
import type { Defect, Seen } from "./defects/defect.ts";
import { REPEATS } from "./defects/repeats.ts";

interface Row extends Pick<Defect, "tries" | "right" | "peer"> {
  readonly peerSeen: string;
  readonly peerHolds: boolean;
  readonly plimsollSeen: string;
  readonly plimsollHolds: boolean;
}

// What a peer rejects with when nobody is listening any more is its own affair.
process.on("unhandledRejection", () => {});

const rows: Row[] = [];
for (const defect of [...REPEATS, ...BREAKERS, ...CAPPED]) rows.push(await tried(defect));
if (process.argv.includes("--json")) console.log(JSON.stringify(rows));
else print(rows);
// Peers leave timers and connections behind.
process.stdout.write("", () => process.exit(rows.every((row) => row.plimsollHolds) ? 0 : 1));

async function tried(defect: Defect): Promise<Row> {
  const { tries, right, holds } = defect;
  const peer = named(defect.peer);
  process.stderr.write(`${peer}: ${tries}\n`);
  const [atPeer, atPlimsoll] = [await seen(defect.atPeer), await seen(defect.atPlimsoll)];
  return {
    tries,
    right,
    peer,
    peerSeen: atPeer.words,
    peerHolds: holds(atPeer.value),
    plimsollSeen: atPlimsoll.words,
    plimsollHolds: holds(atPlimsoll.value),
  };
}

/** A scenario that breaks holds nothing: NaN answers no question with yes. */
async function seen(at: () => Promise<Seen>): Promise<Seen> {
  try {
    return await at();
  } catch (error) {
    return { value: Number.NaN, words: `the scenario failed: ${error}` };
  }
}

/** A package with its version; what is no package is Node's own. */
function named(peer: string): string {
  const manifest = new URL(`../../node_modules/${peer}/package.json`, import.meta.url);
  if (!existsSync(manifest)) return `${peer} of Node ${process.version}`;
  return `${peer} ${(JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version}`;
}

function print(all: readonly Row[]): void {
  const verdict = (holds: boolean): string => (holds ? "holds" : "FAILS").padEnd(6);
  for (const row of all) {
    console.log(`${row.tries}\n  right: ${row.right}`);
    console.log(`  ${verdict(row.peerHolds)} ${row.peer.padEnd(28)} ${row.peerSeen}`);
    console.log(`  ${verdict(row.plimsollHolds)} ${"plimsoll".padEnd(28)} ${row.plimsollSeen}\n`);
  }
  const count = (holds: (row: Row) => boolean): string => `${all.filter(holds).length} of ${all.length}`;
  console.log(`peers hold ${count((row) => row.peerHolds)}, plimsoll ${count((row) => row.plimsollHolds)}`);
}
