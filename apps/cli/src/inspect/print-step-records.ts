import { StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import type { Run, StepExecution } from "@forge/protocol/workflow";
import { type StepStates, stepStates, valuesOf } from "@forge/workflow";
import { readerOf } from "../history/load-run.ts";
import type { Terminal } from "../output/terminal.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { agentTrace } from "./agent-trace.ts";
import { stepRecord } from "./step-record.ts";

/** States that are written out, all of them together, in characters: those of a long run would take the square of its length. */
const STATES_LENGTH_MAX = 64 * 1024 * 1024;

/** A line of JSON for each execution of a run, with the state around it and what its agent did. */
export async function printStepRecords(terminal: Terminal, link: ProjectLink, run: Run): Promise<void> {
  const states = stepStates(run, await readerOf(link, valuesOf(run)));
  let room = STATES_LENGTH_MAX;
  for (const step of run.steps) {
    const around: StepStates | undefined = room > 0 ? states.next().value : undefined;
    const record = stepRecord(step, {
      stateBefore: around?.before ?? null,
      stateAfter: around?.after ?? null,
      agentTrace: step.sessionId === "" ? null : agentTrace(await eventsOf(link, step)),
    });
    const line = JSON.stringify(record);
    terminal.print(line);
    const had = room;
    room -= line.length;
    if (had > 0 && room <= 0) terminal.note(`the states of later steps are left out (null): forge state-diff ${run.runId} shows what changed between any two`);
  }
}

async function eventsOf(link: ProjectLink, { sessionId }: StepExecution): Promise<Event[]> {
  const events: Event[] = [];
  const streams = [{ stream: { kind: StreamKind.SESSION, id: sessionId } }];
  for await (const each of link.follow({ streams, noFollow: true, excludeKinds: ["turn.output_delta", "tool.output_delta"] }))
    if (each.kind === "event") events.push(each.event);
  return events;
}
