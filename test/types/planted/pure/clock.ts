// Must not compile under the options of the pure rings: none of these names exists there.
export const now: number = performance.now();
export const timer: unknown = setTimeout(() => console.log(process.pid), 1);
export const page: unknown = document.title;
export const signal: unknown = AbortSignal.timeout(5);
export const fine: AbortSignal = new AbortController().signal;
