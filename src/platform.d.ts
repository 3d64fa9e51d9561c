// The few names of the platform that the pure rings may use: Node, browsers and workers all have them.
// They stand here, and not in a `lib`, so that a timer, a clock or a console in a pure ring does not compile.
// The file declares and is not shipped: a user's own types (Node's or the DOM's) say the same.

/** Why and whether some work should stop. `AbortSignal.timeout` is left out on purpose: it keeps real time. */
interface AbortSignal {
  readonly aborted: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: as in every platform's own declaration
  readonly reason: any;
  throwIfAborted(): void;
  addEventListener(
    type: "abort",
    listener: () => void,
    options?: { once?: boolean; signal?: AbortSignal },
  ): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

declare var AbortSignal: {
  readonly prototype: AbortSignal;
  abort(reason?: unknown): AbortSignal;
  any(signals: AbortSignal[]): AbortSignal;
};

interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare var AbortController: {
  readonly prototype: AbortController;
  new (): AbortController;
};

interface ErrorConstructor {
  /** How many frames a new error records: V8's, and no other engine's. */
  stackTraceLimit?: number | undefined;
}
