/**
 * `npm run bench -- http [--json] [--rounds N]`: what HTTP costs under guards, over loopback, two processes each.
 *
 * Servers: requests a second and CPU time a request of a bare `node:http` server and of the same under
 * `guardedHandler`, with a cap, a queue and a time limit; once more in a process that also makes guarded calls, where
 * each request is carried to them by AsyncLocalStorage. Clients: a bare fetch, and the same through a guard.
 * The server's CPU time is the steadier number: requests a second are also the loader's and the kernel's.
 */
import { type ChildProcess, fork } from "node:child_process";
import { createServer, type RequestListener } from "node:http";
import { connect } from "node:net";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { guardedHandler } from "plimsoll/http";

const SOCKETS = 50;
const WARM_MS = 800;
const MEASURE_MS = 2_000;
const FETCHES = 2_000;
const BODY = '{"badge":"new"}';

const handler: RequestListener = async (_, response) => {
  response.setHeader("content-type", "application/json");
  response.end(BODY);
};
const bulkhead = { limit: 1_000, queue: { maxWaiting: 1_000, maxWaitMs: 1_000 } };
const guarded = (): RequestListener => guardedHandler({ bulkhead, maxTimeoutMs: 5_000 }, handler);
const servers: Record<string, () => Promise<RequestListener>> = {
  bare: async () => handler,
  guarded: async () => guarded(),
  "guarded, calling": async () => {
    await import("plimsoll");
    return guarded();
  },
};

type Client = (url: string) => Promise<unknown>;
const clients: Record<string, () => Promise<Client>> = {
  bare: async () => (url) => fetch(url).then((response) => response.json()),
  "bare with a signal": async () => (url) =>
    fetch(url, { signal: new AbortController().signal }).then((response) => response.json()),
  guarded: guardedClient,
};

async function guardedClient(): Promise<Client> {
  const { dependency } = await import("plimsoll");
  const { fetch: guardedFetch } = await import("plimsoll/fetch");
  const view = dependency({ name: "stock", bulkhead: { limit: 10 } }).operation("view", {
    attemptTimeoutMs: 5_000,
    idempotent: true,
    retry: { attempts: 2 },
    breaker: { window: { calls: 20 }, failureRate: 0.5, openMs: 5_000 },
  });
  return (url) => view((attempt) => guardedFetch(url, attempt).then((response) => response.json()));
}

type Sample = Record<string, number>;
const [role, name = "", port = ""] = process.argv.slice(2);
if (role === "serve") await serve(name);
else if (role === "load") report({ perSecond: await load(Number(port)) });
else if (role === "call") report({ us: await call(name, port) });
else await main();

function report(sample: Sample): void {
  process.send?.(sample, () => process.exit(0));
}

async function serve(which: string): Promise<void> {
  const server = createServer(await (servers[which] as () => Promise<RequestListener>)());
  server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
  let since = process.cpuUsage();
  process.on("message", () => {
    const { user, system } = process.cpuUsage(since);
    since = process.cpuUsage();
    process.send?.({ cpuUs: user + system });
  });
}

/** Keep-alive connections, each with one request at a time. */
async function load(to: number): Promise<number> {
  const request = "GET / HTTP/1.1\r\nHost: a\r\nx-envoy-expected-rq-timeout-ms: 1000\r\n\r\n";
  let answers = 0;
  for (let n = 0; n < SOCKETS; n++) {
    const socket = connect(to, "127.0.0.1", () => socket.write(request)).setNoDelay(true);
    socket.on("data", () => {
      answers++;
      socket.write(request);
    });
  }
  const start = performance.now();
  await new Promise((done) => setTimeout(done, name === "warm" ? WARM_MS : MEASURE_MS));
  return answers / ((performance.now() - start) / 1_000);
}

async function call(which: string, to: string): Promise<number> {
  const once = await (clients[which] as () => Promise<Client>)();
  for (let n = 0; n < FETCHES; n++) await once(to);
  const start = performance.now();
  for (let n = 0; n < FETCHES; n++) await once(to);
  return ((performance.now() - start) / FETCHES) * 1_000;
}

function child(...args: string[]): ChildProcess {
  return fork(fileURLToPath(import.meta.url), args);
}

function told(process: ChildProcess): Promise<Sample> {
  return new Promise((done, fail) =>
    process.once("message", (sample) => done(sample as Sample)).once("error", fail),
  );
}

async function serverSample(which: string): Promise<Sample> {
  const server = child("serve", which);
  const { port: to } = await told(server);
  await told(child("load", "warm", String(to)));
  server.send("since");
  await told(server);
  const { perSecond = 0 } = await told(child("load", "measure", String(to)));
  server.send("since");
  const { cpuUs = 0 } = await told(server);
  server.kill();
  return { perSecond, cpuUs: cpuUs / (perSecond * (MEASURE_MS / 1_000)) };
}

async function clientSample(which: string): Promise<Sample> {
  const server = child("serve", "bare");
  const { port: to } = await told(server);
  const sample = await told(child("call", which, `http://127.0.0.1:${to}/`));
  server.kill();
  return sample;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] as number;
}

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const at = args.indexOf("--rounds");
  const rounds = at < 0 ? 5 : Number(args[at + 1]);
  const samples = new Map<string, Sample[]>();
  const add = (subject: string, sample: Sample): void => {
    samples.set(subject, [...(samples.get(subject) ?? []), sample]);
  };
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`round ${round} of ${rounds}\n`);
    for (const which of Object.keys(servers)) add(`server, ${which}`, await serverSample(which));
    for (const which of Object.keys(clients)) add(`fetch, ${which}`, await clientSample(which));
  }
  const rows = [...samples].map(([subject, all]) => {
    const of = (unit: string): number[] => all.flatMap((sample) => sample[unit] ?? []);
    const unit = subject.startsWith("server") ? "cpuUs" : "us";
    const perSecond = Math.round(median(of("perSecond")) || 0);
    return { subject, minUs: Math.min(...of(unit)), medianUs: median(of(unit)), perSecond };
  });
  if (args.includes("--json")) console.log(JSON.stringify({ load: loadavg()[0], rows }));
  else print(rows);
}

function print(rows: { subject: string; minUs: number; medianUs: number; perSecond: number }[]): void {
  console.log(
    `Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}; CPU time a request, wall time a fetch\n`,
  );
  for (const { subject, minUs, medianUs, perSecond } of rows) {
    const rate = perSecond > 0 ? `${perSecond}/s` : "";
    console.log(
      `${subject.padEnd(28)} min ${minUs.toFixed(1)} us   median ${medianUs.toFixed(1)} us   ${rate}`,
    );
  }
}
