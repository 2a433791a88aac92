import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import type { Row, Section } from "../report/row.ts";
import { spread } from "../statistics.ts";
import type { RecoverablePeer } from "./peer.ts";
import { failure } from "./rounds.ts";
import type { PeerScale } from "./scale.ts";

const STEPS = 20;
/** The share of all steps after which the kill comes. */
const KILLED_AT = 0.1;
const FIRST_MS_MAX = 2000;
const FINISH_MS_MAX = 45_000;
const POLL_MS = 10;

/** How one kill went. */
interface Recovery {
  readonly inFlight: number;
  readonly firstMs: number;
  readonly finishedMs: number;
  readonly finished: number;
  readonly again: number;
}

/** Steps as they were executed. */
async function executions(log: string): Promise<readonly (readonly [run: string, step: number])[]> {
  const lines = (await readFile(log, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [run = "", step = ""] = line.split(" ");
    return [run, Number(step)] as const;
  });
}

/** Whether it came true in time. */
async function until(condition: () => Promise<boolean>, msMax: number): Promise<boolean> {
  const deadline = performance.now() + msMax;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

async function recover(peer: RecoverablePeer, log: string, runs: number): Promise<Recovery> {
  await writeFile(log, "");
  const before = await peer.completed();
  const ids = Array.from({ length: runs }, () => randomUUID());
  await peer.start(ids, STEPS);
  const isUnderWay = await until(async () => (await executions(log)).length >= runs * STEPS * KILLED_AT, FINISH_MS_MAX);
  await peer.kill();
  if (!isUnderWay) throw new Error("its runs did not begin");
  const done = await executions(log);
  // A step is surely recorded once the one after it has begun.
  const reached = new Map<string, number>();
  for (const [run, step] of done) reached.set(run, Math.max(reached.get(run) ?? 0, step));
  const inFlight = ids.filter((id) => (reached.get(id) ?? -1) < STEPS - 1).length;
  const began = performance.now();
  const restarted = peer.restart();
  await until(async () => (await executions(log)).length > done.length, FINISH_MS_MAX);
  const firstMs = performance.now() - began;
  await restarted;
  let finished = 0;
  await until(async () => {
    finished = (await peer.completed()) - before;
    return finished >= runs;
  }, FINISH_MS_MAX);
  const finishedMs = performance.now() - began;
  const again = (await executions(log)).slice(done.length).filter(([run, step]) => step < (reached.get(run) ?? -1)).length;
  return { inFlight, firstMs, finishedMs, finished, again };
}

const NOTE =
  `Runs of ${STEPS} steps that add a line to a file; after a tenth of all steps everything but PostgreSQL is killed with SIGKILL, and started again at once. First progress is the first step that is executed after the ` +
  "start of the new processes, their own start included. A step that had been followed by another of its run was completed; run again are those of them that the file shows once more. How many have " +
  "ended well is asked of the records of the one that ran them.";

function rows(name: string, taken: readonly Recovery[], runs: number): Row[] {
  const finished = spread(taken.map((one) => one.finished));
  const first = spread(taken.map(({ firstMs }) => firstMs));
  const again = spread(taken.map((one) => one.again));
  const isOurs = name === "Forge";
  return [
    { name: `${name}: in flight when killed`, unit: "runs", value: spread(taken.map(({ inFlight }) => inFlight)) },
    { name: `${name}: first progress`, unit: "ms", value: first, ...(isOurs && { target: { text: "at most 2 s", isMet: first.max <= FIRST_MS_MAX } }) },
    { name: `${name}: all ended`, unit: "ms", value: spread(taken.map(({ finishedMs }) => finishedMs)) },
    {
      name: `${name}: ended well`,
      unit: "runs",
      value: finished,
      ...(isOurs && { target: { text: `${runs}`, isMet: finished.min === runs && finished.max === runs } }),
    },
    { name: `${name}: completed steps run again`, unit: "steps", value: again, ...(isOurs && { target: { text: "0", isMet: again.max === 0 } }) },
  ];
}

/** `log` is the file that the peers were opened with. */
export async function measureRecovery(
  peers: readonly RecoverablePeer[],
  logOf: (name: string) => string,
  scale: PeerScale,
  deadline: number,
  progress: (text: string) => void,
): Promise<Section> {
  const taken = new Map<string, Recovery[]>();
  const failures: string[] = [];
  const failed = new Set<string>();
  for (let index = 0; index < scale.recoveries && (index === 0 || performance.now() < deadline); index++) {
    for (const peer of peers.filter(({ name }) => !failed.has(name))) {
      try {
        const recovery = await recover(peer, logOf(peer.name), scale.recoveryRuns);
        taken.set(peer.name, [...(taken.get(peer.name) ?? []), recovery]);
        progress(`  kill ${index + 1}, ${peer.name}: ${JSON.stringify(recovery)}`);
      } catch (error) {
        failed.add(peer.name);
        failures.push(failure(peer.name, error));
        progress(`  ${failures.at(-1)}`);
      }
    }
  }
  return {
    title: "Recovery beside others",
    note: [NOTE, ...failures].join(" "),
    rows: [...taken].flatMap(([name, all]) => rows(name, all, scale.recoveryRuns)),
  };
}
