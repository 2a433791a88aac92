import { type Run, RunStatus, type StepDefinition, type StepExecution, StepStatus } from "@forge/protocol/workflow";

/** A step of the definition with what became of it. */
export interface GraphNode {
  readonly id: string;
  /** "agent", "function", "tool", "wait" or "workflow". */
  readonly type: string;
  /** Of a graph's step: the expression that decides whether it runs; empty: none. */
  readonly when: string;
  /** Its executions, in order, without those of a list's items; empty where it was never reached. */
  readonly executions: readonly StepExecution[];
  /** Of a step with a list: the items of its last execution that have begun, by their place. */
  readonly items: readonly StepExecution[];
}

/** A way from one step to another. */
export interface GraphEdge {
  readonly from: string;
  /** A step's id, or `end`. */
  readonly to: string;
  /** "sequence", "rule:<n>", "default", or, in a graph, "needs". */
  readonly source: string;
  /** The expression of a rule. */
  readonly when: string;
  /** How often it was taken. */
  readonly taken: number;
}

export interface RunGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Whether steps follow what they need, and not each other. */
  readonly isGraph: boolean;
}

export const END = "end";

/** The graph of a run's workflow, with the ways that the run took. */
export function runGraph(run: Run): RunGraph {
  const definitions = run.definition?.steps ?? [];
  const isGraph = definitions.some(({ needs }) => needs.length > 0);
  const executions = Map.groupBy(
    run.steps.filter(({ groupIndex }) => groupIndex === undefined),
    ({ stepId }) => stepId,
  );
  const items = Map.groupBy(
    run.steps.filter(({ groupIndex }) => groupIndex !== undefined),
    ({ groupIndex }) => groupIndex,
  );
  const nodes = definitions.map(({ id, kind, when }): GraphNode => {
    const own = executions.get(id) ?? [];
    const last = own.at(-1);
    const ofLast = last?.itemCount === undefined ? [] : (items.get(last.executionIndex) ?? []);
    return { id, type: kind.case ?? "unknown", when, executions: own, items: ofLast.toSorted((a, b) => (a.itemIndex ?? 0) - (b.itemIndex ?? 0)) };
  });
  const edges = isGraph
    ? needEdges(definitions, executions)
    : definitions.flatMap((step, position) => edgesOf(step, definitions[position + 1]?.id ?? END, executions.get(step.id) ?? [], run));
  return { nodes, edges, isGraph };
}

/** A way is taken where what it leads to has begun. Steps that nobody needs lead to the end. */
function needEdges(definitions: readonly StepDefinition[], executions: ReadonlyMap<string, readonly StepExecution[]>): GraphEdge[] {
  const last = (id: string): StepExecution | undefined => executions.get(id)?.at(-1);
  const hasBegun = (id: string): boolean => last(id) !== undefined && last(id)?.status !== StepStatus.SKIPPED;
  const needed = new Set(definitions.flatMap(({ needs }) => needs));
  return definitions.flatMap(({ id, needs }) => [
    ...needs.map((need) => ({ from: need, to: id, source: "needs", when: "", taken: hasBegun(id) ? 1 : 0 })),
    ...(needed.has(id) ? [] : [{ from: id, to: END, source: "needs", when: "", taken: last(id)?.status === StepStatus.COMPLETED ? 1 : 0 }]),
  ]);
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
  // A history from before a failed step's branch was asked went on in sequence after it, whatever the branches say.
  const passedOver = branches.length > 0 && sequence.taken > 0 ? [sequence] : [];
  return [...ways.map((way) => ({ from: step.id, ...way, taken: taken(way.to, way.source) })), ...passedOver];
}

/** Whether a run went on after a failed execution, or ended in sequence. */
function wentOn(execution: StepExecution, to: string, run: Run): boolean {
  if (execution.nextSource === "end") return to === END;
  if (execution.status !== StepStatus.FAILED || execution.nextSource !== "") return false;
  // The items of a list have indexes of their own between two steps.
  const following = run.steps.find(({ executionIndex, groupIndex }) => executionIndex > execution.executionIndex && groupIndex === undefined)?.stepId;
  return following === undefined ? to === END && run.status === RunStatus.COMPLETED_WITH_ERRORS : following === to;
}
