/** Plimsoll: guards for the calls a service makes. Everything of the core, and promises on top. */
export * from "./core/index.ts";
export * from "./facade/index.ts";
