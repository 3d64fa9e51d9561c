/** Options of a guarded client, and the operations made from them: one for each of the service's. */

import { OptionError } from "../../core/errors.ts";
import type { Judge } from "../../core/leaf.ts";
import { checkKeys, checkObject } from "../../core/options.ts";
import type { DependencyOptions, OperationOptions } from "../../core/policy-options.ts";
import type { Runtime } from "../../core/runtime.ts";
import { type Dependency, dependency, type Operation } from "../../facade/dependency.ts";
import type { AwsOperation } from "./command.ts";

/** How one command is guarded. What an error means is the SDK's word, and a fallback would be no output of it. */
export type AwsOperationOptions = Omit<OperationOptions, "idempotent" | "classify" | "fallback" | "decides">;

/** Options of `guardedAws`. */
export interface AwsGuardOptions extends DependencyOptions {
  /** How commands are guarded: each has guards of its own, its breaker above all, made from these. Default: none. */
  readonly operation?: AwsOperationOptions;
  /** What is otherwise for single commands, by the service's name for them: `{ Query: { attemptTimeoutMs: 500 } }`. */
  readonly operations?: Readonly<Record<string, AwsOperationOptions>>;
  /**
   * Commands that may be repeated although nobody knows whether they had an effect: `["GetItem", "Query"]`. Default:
   * those that the service's model calls so, and those with an idempotency token.
   */
  readonly idempotent?: readonly string[];
}

const KINDS_OF_NAMES = 'names like "GetItem", as the service has them, without "Command"';

/** Checked options, and operations by name. */
export class Operations {
  readonly dependency: Dependency;
  private readonly made: Map<string, Operation<never, true>> = new Map();
  private readonly template: AwsOperationOptions;
  private readonly single: Readonly<Record<string, AwsOperationOptions>>;
  private readonly idempotent: readonly string[];
  private readonly judge: Judge;

  constructor(options: AwsGuardOptions, runtime: Runtime | undefined, judge: Judge) {
    checkObject("guardedAws", options);
    const { operation = {}, operations = {}, idempotent = [], ...shared } = options;
    this.dependency = runtime === undefined ? dependency(shared) : dependency(shared, runtime);
    checkKeys("guardedAws.operations", operations, Object.keys(operations));
    this.template = checkFields("guardedAws.operation", operation);
    this.single = operations;
    if (!Array.isArray(idempotent))
      throw new OptionError("guardedAws.idempotent", idempotent, KINDS_OF_NAMES);
    this.idempotent = idempotent.map((name) => checkName("guardedAws.idempotent", name));
    this.judge = judge;
    // Whatever is wrong is refused now, not at the first command.
    this.make("*", true);
    for (const name of Object.keys(operations)) {
      checkFields(`guardedAws.operations.${checkName("guardedAws.operations", name)}`, operations[name]);
      this.make(name, true);
    }
  }

  /** The guards of a command. */
  of({ name, idempotent }: AwsOperation): Operation<never, true> {
    const known = this.made.get(name);
    if (known !== undefined) return known;
    const operation = this.make(name, idempotent || this.idempotent.includes(name));
    this.made.set(name, operation);
    return operation;
  }

  /** The guards of what has been sent before. */
  sent(name: string): Operation<never, true> | undefined {
    return this.made.get(name);
  }

  /** How many attempts a command has at most. */
  attempts(name: string): number {
    const { retry } = this.optionsOf(name);
    return retry === undefined ? 1 : (retry.attempts ?? 3);
  }

  private make(name: string, idempotent: boolean): Operation<never, true> {
    const settings = this.optionsOf(name);
    // A hedge or a shared call would make one write two, or two one.
    const { hedge, coalesce, ...writes } = settings;
    const options: OperationOptions = idempotent ? { ...settings, idempotent } : writes;
    return this.dependency.operation(name, { ...options, classify: this.judge });
  }

  private optionsOf(name: string): AwsOperationOptions {
    return { ...this.template, ...(Object.hasOwn(this.single, name) ? this.single[name] : {}) };
  }
}

function checkFields(field: string, options: AwsOperationOptions | undefined): AwsOperationOptions {
  checkObject(field, options);
  for (const name of ["idempotent", "classify", "fallback", "decides"]) {
    if (name in (options as object))
      throw new OptionError(`${field}.${name}`, (options as never)[name], "nothing here");
  }
  return options as AwsOperationOptions;
}

function checkName(field: string, name: unknown): string {
  if (typeof name === "string" && /^[A-Z][A-Za-z0-9]*$/.test(name) && !name.endsWith("Command")) return name;
  throw new OptionError(field, name, KINDS_OF_NAMES);
}
