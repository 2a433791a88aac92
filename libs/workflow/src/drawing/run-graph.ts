import { type Run, RunStatus, type StepDefinition, type StepExecution, StepStatus } from "@forge/protocol/workflow";

/** A step of the definition with what became of it. */
export interface GraphNode {
  readonly id: string;
  /** "agent", "function" or "tool". */
  readonly type: string;
  /** Its executions, in order; empty where it was never reached. */
  readonly executions: readonly StepExecution[];
}

/** A way from one step to another. */
export interface GraphEdge {
  readonly from: string;
  /** A step's id, or `end`. */
  readonly to: string;
  /** "sequence", "rule:<n>" or "default". */
  readonly source: string;
  /** The expression of a rule. */
  readonly when: string;
  /** How often it was taken. */
  readonly taken: number;
}

export interface RunGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export const END = "end";

/** The graph of a run's workflow, with the ways that the run took. */
export function runGraph(run: Run): RunGraph {
  const definitions = run.definition?.steps ?? [];
  const executions = Map.groupBy(run.steps, ({ stepId }) => stepId);
  const nodes = definitions.map(({ id, kind }) => ({ id, type: kind.case ?? "unknown", executions: executions.get(id) ?? [] }));
  const edges = definitions.flatMap((step, position) => edgesOf(step, definitions[position + 1]?.id ?? END, executions.get(step.id) ?? [], run));
  return { nodes, edges };
}

function edgesOf(step: StepDefinition, following: string, executions: readonly StepExecution[], run: Run): GraphEdge[] {
  const taken = (to: string, source: string): number =>
    executions.filter(
      (execution) => (execution.nextSource === source && (execution.nextStepId || END) === to) || (source === "sequence" && wentOn(execution, to, run)),
    ).length;
  const branches = [
    ...step.next.map(({ when, goto }, index) => ({ to: goto, source: `rule:${index}`, when })),
    ...(step.nextDefault === undefined ? [] : [{ to: step.nextDefault, source: "default", when: "" }]),
  ];
  const ways = branches.length > 0 ? branches : [{ to: following, source: "sequence", when: "" }];
  const sequence = { from: step.id, to: following, source: "sequence", when: "", taken: taken(following, "sequence") };
  // After a failure that the workflow passes over, a run goes on in sequence, whatever the branches say.
  const passedOver = branches.length > 0 && sequence.taken > 0 ? [sequence] : [];
  return [...ways.map((way) => ({ from: step.id, ...way, taken: taken(way.to, way.source) })), ...passedOver];
}

/** Whether a run went on after a failed execution, or ended in sequence. */
function wentOn(execution: StepExecution, to: string, run: Run): boolean {
  if (execution.nextSource === "end") return to === END;
  if (execution.status !== StepStatus.FAILED) return false;
  const following = run.steps.find(({ executionIndex }) => executionIndex === execution.executionIndex + 1)?.stepId;
  return following === undefined ? to === END && run.status === RunStatus.COMPLETED_WITH_ERRORS : following === to;
}
