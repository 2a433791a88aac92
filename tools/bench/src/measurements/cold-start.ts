import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startEmbedded } from "@forge/store-postgres";
import type { Row, Section } from "../report/row.ts";
import type { Scale } from "../scale.ts";
import { median, spread } from "../statistics.ts";

const NOTE =
  "`forge run` of a copy of examples/triage with `--foreground`, from the process's start to its exit, without the run's own duration as it reports it: what starting and stopping costs. " +
  "The first on a fresh data directory and with an empty cache of compiled code, as after `npm ci`; the second again there. The database by itself is `initdb` and the server's start until it " +
  "takes connections, then the start alone.";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const FORGE = path.join(ROOT, "apps", "cli", "src", "main.js");
const EXAMPLE = path.join(ROOT, "examples", "triage");
const RUN_MS_MAX = 120_000;
const FRESH_SECONDS_MAX = 2;
const EXISTING_SECONDS_MAX = 1;

interface ReportedRun {
  readonly run: { readonly status: string; readonly created_at: string; readonly completed_at: string };
}

async function secondsOf(action: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await action();
  return (performance.now() - began) / 1000;
}

/** Seconds from process start to exit, without the run's own. */
async function forgeRun(project: string, cache: string): Promise<number> {
  const issue = path.join(project, "issues", "login-crash.md");
  const args = [FORGE, "run", project, "-i", `issue=@${issue}`, "--foreground", "--json"];
  const environment = { ...process.env, XDG_CACHE_HOME: cache, DATABASE_URL: undefined };
  let output = "";
  const seconds = await secondsOf(async () => {
    ({ stdout: output } = await promisify(execFile)(process.execPath, args, {
      cwd: project,
      env: environment,
      timeout: RUN_MS_MAX,
      maxBuffer: 64 * 1024 * 1024,
    }));
  });
  const { run } = JSON.parse(output.trim().split("\n").at(-1) ?? "") as ReportedRun;
  if (run.status !== "RUN_STATUS_COMPLETED" && run.status !== "COMPLETED") throw new Error(`the run of the example ended as ${run.status}`);
  return seconds - (Date.parse(run.completed_at) - Date.parse(run.created_at)) / 1000;
}

/** Seconds until a PostgreSQL of its own takes connections; it is ended then. */
export async function databaseStart(dataDirectory: string): Promise<number> {
  const began = performance.now();
  const server = await startEmbedded({ dataDirectory });
  const seconds = (performance.now() - began) / 1000;
  await server.stop();
  return seconds;
}

interface Pair {
  readonly fresh: number[];
  readonly existing: number[];
}

function beyond(name: string, forge: readonly number[], database: readonly number[], secondsMax: number): Row {
  const values = forge.map((seconds, index) => seconds - (database[index] as number));
  return { name, unit: "s", value: spread(values), target: { text: `at most ${secondsMax} s`, isMet: median(values) <= secondsMax } };
}

export async function measureColdStart(scale: Scale): Promise<Section> {
  const database: Pair = { fresh: [], existing: [] };
  const forge: Pair = { fresh: [], existing: [] };
  for (let index = 0; index < scale.coldStarts; index++) {
    const directory = await mkdtemp(path.join(tmpdir(), "forge-bench-start-"));
    try {
      const bare = path.join(directory, "bare");
      database.fresh.push(await databaseStart(bare));
      database.existing.push(await databaseStart(bare));
      const project = path.join(directory, "triage");
      await cp(EXAMPLE, project, { recursive: true, filter: (source) => path.basename(source) !== ".forge" });
      const cache = path.join(directory, "cache");
      forge.fresh.push(await forgeRun(project, cache));
      forge.existing.push(await forgeRun(project, cache));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
  return {
    title: "Cold start",
    note: NOTE,
    rows: [
      { name: "database alone, fresh data directory", unit: "s", value: spread(database.fresh) },
      { name: "forge run, fresh data directory", unit: "s", value: spread(forge.fresh) },
      beyond("forge run beyond the database, fresh data directory", forge.fresh, database.fresh, FRESH_SECONDS_MAX),
      { name: "database alone, existing data directory", unit: "s", value: spread(database.existing) },
      { name: "forge run, existing data directory", unit: "s", value: spread(forge.existing) },
      beyond("forge run beyond the database, existing data directory", forge.existing, database.existing, EXISTING_SECONDS_MAX),
    ],
  };
}
