/**
 * What PostgreSQL's error codes mean to the guards, as a table.
 *
 * May a repeat help? And may the failed statement have changed something? An error that is *answered* undoes its
 * statement and, inside a transaction, all of it; so its effect is none, whatever the code. That leaves the codes with
 * which a session ends (`session`: undone, unless the end of a transaction was on its way) and those that say
 * themselves that nobody knows (`unknown`).
 * Sources: PostgreSQL's `errcodes.txt` and manual, "Serialization Failure Handling"; 53xxx and 55P03 count as
 * overload, because their cure is less load.
 */
import type { FailureClass } from "../../core/call.ts";

/** What a code means. */
export interface Meaning {
  readonly class: FailureClass;
  readonly effect: "none" | "session" | "unknown";
  /** Whether the connection may be lent out again: not after the end of its session, nor to a server that only reads. */
  readonly keep: boolean;
}

const AGAIN: Meaning = { class: "transient", effect: "none", keep: true };
const LESS: Meaning = { class: "throttling", effect: "none", keep: true };
const NEVER: Meaning = { class: "permanent", effect: "none", keep: true };
const ENDED: Meaning = { class: "transient", effect: "session", keep: false };
const NOBODY_KNOWS: Meaning = { class: "transient", effect: "unknown", keep: false };
const UNLISTED: Meaning = { class: "unknown", effect: "none", keep: true };

/** By code (five characters) or by class of codes (two); the code decides. */
export const SQLSTATES: Readonly<Record<string, Meaning>> = {
  "40001": AGAIN, // serialization_failure: always rolled back; the whole transaction again, reads included
  "40P01": AGAIN, // deadlock_detected
  "57014": AGAIN, // query_canceled
  "55P03": LESS, // lock_not_available: it never came to the statement
  "55006": AGAIN, // object_in_use
  "53": LESS, // insufficient_resources
  "53100": NEVER, // disk_full: a repeat does not make room
  "57P03": LESS, // cannot_connect_now: starting, or in recovery
  "08": NOBODY_KNOWS, // connection_exception
  "08001": { ...AGAIN, keep: false }, // no connection came about, so nothing was sent
  "08004": { ...AGAIN, keep: false },
  "40003": NOBODY_KNOWS, // statement_completion_unknown
  "57P01": ENDED, // admin_shutdown
  "57P02": ENDED, // crash_shutdown
  "57P05": ENDED, // idle_session_timeout
  "25P03": ENDED, // idle_in_transaction_session_timeout
  "25P04": ENDED, // transaction_timeout
  "25006": { ...AGAIN, keep: false }, // read_only_sql_transaction: after a failover this is a replica
  "40": AGAIN, // transaction_rollback
  "0A": NEVER, // feature_not_supported
  "22": NEVER, // data_exception
  "23": NEVER, // integrity_constraint_violation
  "25": NEVER, // invalid_transaction_state
  "28": NEVER, // invalid_authorization_specification
  "3D": NEVER, // invalid_catalog_name
  "42": NEVER, // syntax_error_or_access_rule_violation
  "54": NEVER, // program_limit_exceeded
  P0: NEVER, // raise_exception and its like: a refusal by the application's own code
  XX: NEVER, // internal_error
  "57P04": NEVER, // database_dropped
};

/** What a code means. */
export function meaningOf(code: string): Meaning {
  return SQLSTATES[code] ?? SQLSTATES[code.slice(0, 2)] ?? UNLISTED;
}
