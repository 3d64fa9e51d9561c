/** The server answered COMMIT by ROLLBACK: a statement before it had failed, and the work went on all the same. */
import { FAILURE } from "../../core/classify.ts";

/** Nothing of the transaction has happened, although its work resolved: it swallowed the error of a statement. */
export class RolledBackError extends Error {
  override readonly name = "RolledBackError";

  constructor() {
    super("COMMIT was answered by ROLLBACK: a statement of the transaction had failed before");
    Object.defineProperty(this, FAILURE, { value: { class: "permanent", effect: "none" } });
  }
}
