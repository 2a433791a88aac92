import { commandHeader, type ForgeClient } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import { OnError } from "@forge/protocol/workflow";
import type { Row, Section } from "../report/row.ts";
import type { Fleet } from "../server/fleet.ts";
import { spread } from "../statistics.ts";
import { withinTime } from "../within-time.ts";
import type { PeerScale } from "./scale.ts";

const FEW = 100;
const STEPS = 2_200;
/** Of these, so that what the start leaves behind, such as its snapshot, is over. */
const STEPS_BEFORE = 200;
const RATIO_MAX = 1.2;
const RUN_MS_MAX = 120_000;

const NOTE =
  "A run that waits for so many signals, each under a timeout, and works through a sequence of function steps meanwhile. Processor time is the control plane's and the executor's " +
  "from the two hundredth step of the sequence until it has ended.";

/** A graph: waits that nothing ends, and a sequence that begins with a signal. */
function waitingRun(waits: number) {
  const sequence = Array.from({ length: STEPS }, (_, index) => ({
    id: `step_${index}`,
    kind: { case: "function" as const, value: { name: "bench.nothing" } },
    needs: [index === 0 ? "begin" : `step_${index - 1}`],
  }));
  const wait = (id: string) => ({ id, kind: { case: "wait" as const, value: { kind: { case: "signal" as const, value: id } } }, timeout: { seconds: 3_600n } });
  return {
    id: "bench_waits",
    version: "v1",
    onError: OnError.CONTINUE,
    steps: [wait("begin"), ...Array.from({ length: waits }, (_, index) => wait(`wait_${index}`)), ...sequence],
  };
}

/** Resolves once an event of the run is one that is waited for. */
async function until(client: ForgeClient, runId: string, isIt: (kind: string, stepId: string) => boolean): Promise<void> {
  const stop = new AbortController();
  try {
    for await (const { kind } of client.event.subscribeEvents({ streams: [{ stream: { kind: StreamKind.RUN, id: runId } }] }, { signal: stop.signal })) {
      if (kind.case === "event" && isIt(kind.value.kind, kind.value.stepId)) return;
    }
  } finally {
    stop.abort();
  }
  throw new Error(`the events of run ${runId} ended before what was waited for`);
}

/** Microseconds of processor time for a step. */
async function costOf(fleet: Fleet, waits: number): Promise<number> {
  const { client } = fleet;
  const { runId } = await client.workflow.startRun({ header: commandHeader(), definition: waitingRun(waits) });
  await until(client, runId, (kind, stepId) => kind === "step.started" && stepId === `wait_${waits - 1}`);
  await client.workflow.signalRun({ header: commandHeader(), runId, name: "begin" });
  await until(client, runId, (kind, stepId) => kind === "step.completed" && stepId === `step_${STEPS_BEFORE - 1}`);
  const before = await fleet.writes();
  await until(client, runId, (kind, stepId) => kind === "step.completed" && stepId === `step_${STEPS - 1}`);
  const after = await fleet.writes();
  await client.workflow.cancelRun({ header: commandHeader(), runId });
  await until(client, runId, (kind) => kind === "run.cancelled");
  return (after.cpuUs - before.cpuUs) / (STEPS - STEPS_BEFORE);
}

export async function measureOpenWaits(fleet: Fleet, { openWaits }: PeerScale, progress: (text: string) => void): Promise<Section> {
  const cost = async (waits: number): Promise<number> => {
    const us = await withinTime(costOf(fleet, waits), RUN_MS_MAX, "a run that waits");
    progress(`  a step beside ${waits} waits: ${us.toFixed(0)} µs`);
    return us;
  };
  await cost(FEW);
  const [few, many] = [[] as number[], [] as number[]];
  for (let round = 0; round < 3; round++) {
    few.push(await cost(FEW));
    many.push(await cost(openWaits));
  }
  const [base, beside] = [spread(few), spread(many)];
  const ratio = beside.median / base.median;
  const row = (waits: number): Pick<Row, "name" | "unit"> => ({ name: `a step beside ${waits} open waits: processor time`, unit: "µs" });
  return {
    title: "A run that waits",
    note: NOTE,
    rows: [
      { ...row(FEW), value: base },
      {
        ...row(openWaits),
        value: beside,
        ratio: { value: ratio, to: `beside ${FEW}` },
        target: { text: `at most ${RATIO_MAX}`, isMet: ratio <= RATIO_MAX },
      },
    ],
  };
}
