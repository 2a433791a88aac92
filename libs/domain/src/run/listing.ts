import { RunStatusSchema } from "@forge/protocol/workflow";
import type { Listing } from "../decider.ts";
import type { RunState } from "./state.ts";

/** What lists of runs show and filter by. A run's tools are granted with its start, so no approval waits in it. */
export function listing(state: RunState): Listing {
  return {
    status: RunStatusSchema.value[state.status]?.name ?? "",
    detailStatus: "",
    title: state.workflowId,
    subject: state.workflowId,
    version: state.workflowVersion,
    labels: state.labels,
    approvals: [],
  };
}
