import { type Run, StepStatus } from "@forge/protocol/workflow";
import type { TaskContext } from "@forge/worker";

/** A run as it is now. */
export type ReadRun = (runId: string) => Promise<Run>;

/** The state of a run as a JSON object: its inputs, the newest output of each of its steps, and what the runtime knows of it. Texts are joined as they are. */
export async function runState(runId: string, readRun: ReadRun, context: Pick<TaskContext, "fromValue">): Promise<string> {
  const { inputs, steps, workflowId, workflowVersion } = await readRun(runId);
  const outputs = new Map<string, string>();
  for (const { stepId, status, output, itemIndex } of steps) {
    // What one item of a list gave is in its step's output.
    if (status === StepStatus.COMPLETED && output !== undefined && itemIndex === undefined) outputs.set(stepId, await context.fromValue(output));
  }
  const members = Array.from(outputs, ([id, json]) => `${JSON.stringify(id)}:${json}`).join(",");
  const runtime = JSON.stringify({ run_id: runId, workflow_id: workflowId, workflow_version: workflowVersion });
  return `{"inputs":${inputs === undefined ? "{}" : await context.fromValue(inputs)},"steps":{${members}},"runtime":${runtime}}`;
}
