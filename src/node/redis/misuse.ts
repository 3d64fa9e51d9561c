/**
 * What must not be sent on a connection that all calls share: what changes it for the others, what keeps it from them
 * for longer than its caller waits, and what breaks off while it is written.
 *
 * A pipeline is looked at as a whole, before any of it is sent: half of one would shift the replies of all others, and
 * what follows a SELECT that was left out would go to another database.
 */
import type { Command } from "ioredis";

/** Commands that change the connection for all who share it, keep it, or end it; MULTI is looked at more closely. */
const OF_ONE_OWNER = new Set(
  "watch select subscribe psubscribe ssubscribe monitor auth hello reset quit sync psync".split(" "),
);

/** They block, too, and name the time last, in ms; the client does not know. */
const WAITS = new Set(["wait", "waitaof"]);

/** Why these commands must not be sent by somebody with so much time left; null if they may. */
export function misuseOf(commands: readonly Command[], leftMs: number): string | null {
  let blockMs = 0;
  for (const command of commands) {
    const name = command.name.toLowerCase();
    if (changesConnection(name, command)) {
      return `${name} changes a connection that all calls share: use multi() as a pipeline, or a client of its own`;
    }
    if (!command.args.every(canBeWritten)) return `${name} has an argument that cannot be made text`;
    const ms = blocksMs(name, command);
    blockMs += ms;
    if (ms > 0 && blockMs >= leftMs) {
      const until = ms === Infinity ? "without end" : `for ${ms} ms`;
      return `${name} may block ${until}, longer than its attempt has: what it gets later is lost`;
    }
  }
  return null;
}

function changesConnection(name: string, { args, inTransaction }: Command): boolean {
  if (name === "client") return String(args[0]).toLowerCase() === "reply";
  // A pipeline's own MULTI comes with its EXEC, in one write.
  return name === "multi" ? !inTransaction : OF_ONE_OWNER.has(name);
}

/** ioredis makes text of every argument; where it could not, it fails in the middle of its write. */
function canBeWritten(argument: unknown): boolean {
  return typeof argument === "string" || argument instanceof Buffer;
}

/** How long a command may block; 0 for not at all, as within a transaction. */
function blocksMs(name: string, command: Command): number {
  if (command.inTransaction) return 0;
  const ms = WAITS.has(name) ? Number(command.args.at(-1)) : command.extractBlockingTimeout();
  if (ms == null || Number.isNaN(ms)) return 0; // not asked to; or no number, which the server refuses
  return ms > 0 ? ms : Infinity;
}
