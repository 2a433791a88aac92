import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type InputDeclaration, InputDeclarationSchema, OnError, type WorkflowDefinition, WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import type { AgentSource } from "../agent/agent-source.ts";
import { type YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { buildStep } from "./build-step.ts";
import { checkGraph } from "./check-graph.ts";
import { checkPrompts } from "./check-prompts.ts";
import { StepChecks } from "./check-steps.ts";
import { type DefinitionSource, noSource } from "./definition-source.ts";
import type { LoadedWorkflow } from "./loaded-workflow.ts";
import { checkConcurrency, readConcurrency } from "./read-concurrency.ts";
import { readDurationMs } from "./read-duration.ts";
import { readIdentity, readSchemaVersion } from "./read-identity.ts";
import { readInputs } from "./read-inputs.ts";
import type { StepSources } from "./read-kind.ts";
import { readStep } from "./read-step.ts";
import { WAIT_MS_MAX } from "./read-wait.ts";
import { resolveContracts } from "./resolve-contracts.ts";
import { checkSubWorkflows } from "./resolve-sub-workflow.ts";
import type { StepDraft } from "./step-draft.ts";
import { workflowHash } from "./workflow-hash.ts";

export interface ParseWorkflowOptions {
  /** The file's name in errors. */
  readonly file: string;
  readonly agents: AgentSource;
  /** Where other workflows and files are found; absent: nowhere. */
  readonly source?: DefinitionSource;
}

/** Bytes of a workflow file; 10,000 steps of 400 bytes each fit. */
export const WORKFLOW_BYTES_MAX = 4_194_304;

/** Bytes of a definition with the text that it was read from: a run keeps both in one event. */
const DEFINITION_BYTES_MAX = 4_194_304;

const STEPS_MAX = 10_000;
const PARALLEL_MAX = 1000;
const PRIORITY_MAX = 9;
/** The longest time that a whole run may take: a year. */
const DEADLINE_MS_MAX = WAIT_MS_MAX;
/** The keys of a workflow file. */
export const WORKFLOW_FILE_KEYS = [
  "schema_version",
  "workflow",
  "inputs",
  "inputs_contract",
  "on_error",
  "parallel_max",
  "deadline",
  "priority",
  "concurrency",
  "steps",
];
const LATER_KEYS = ["latency_budget_ms", "state", "schedule", "schedules"];

/**
 * Reads a workflow's YAML and checks it whole. Throws one ForgeError, reason WORKFLOW_VALIDATION, whose message lists everything that is wrong, a line each as
 * `file:line:column: what, what was expected, the nearest valid name`; its metadata has file, line and column of the first. Code `unsupported` where
 * nothing is wrong but something is not built.
 */
export function parseWorkflow(text: string, { file, agents, source = noSource }: ParseWorkflowOptions): LoadedWorkflow {
  const reader = new YamlReader(text, file, "WORKFLOW_VALIDATION");
  // What follows from a broken structure would only hide where it broke.
  reader.problems.throwIfAny();
  const top = reader.mapping(reader.source.root, "the workflow file");
  const definition = top && build(reader, top, { agents, source }, text);
  const bytes = definition === undefined ? 0 : toBinary(WorkflowDefinitionSchema, definition).length;
  if (bytes > DEFINITION_BYTES_MAX) reader.problems.add(0, `the workflow takes ${bytes} bytes; at most ${DEFINITION_BYTES_MAX} are allowed`);
  reader.problems.throwIfAny();
  if (definition === undefined) throw new Error("a workflow without problems has no definition");
  return { definition, hash: workflowHash(definition), file, warnings: reader.problems.warnings };
}

function build(reader: YamlReader, top: ReadonlyMap<string, YamlEntry>, sources: StepSources, text: string): WorkflowDefinition | undefined {
  const { problems } = reader;
  reader.checkKeys(top, "the workflow file", WORKFLOW_FILE_KEYS, LATER_KEYS);
  readSchemaVersion(reader, top.get("schema_version"));
  const identity = readWorkflow(reader, top.get("workflow"));
  const onError = top.get("on_error");
  const isContinue = onError !== undefined && reader.choice(onError.value, "on_error", ["fail_fast", "continue"]) === "continue";
  const [parallel, deadline] = [top.get("parallel_max"), top.get("deadline")];
  const parallelMax = (parallel && reader.number(parallel.value, "parallel_max", 1, PARALLEL_MAX, true)) ?? 0;
  const deadlineMs = deadline && readDurationMs(reader, deadline.value, "deadline", 1, DEADLINE_MS_MAX);
  const [prior, concurrent] = [top.get("priority"), top.get("concurrency")];
  const priority = (prior && reader.number(prior.value, "priority", 0, PRIORITY_MAX, true)) ?? 0;
  const concurrency = concurrent && readConcurrency(reader, concurrent.value);
  const declared = readInputs(reader, top);
  const steps = readSteps(reader, top.get("steps"), sources);
  const order = checkGraph(problems, steps);
  const checks = new StepChecks(reader, steps, declared, order);
  checks.run();
  const inputs = declared ?? Array.from(checks.inferred, inferredInput);
  const contracts = resolveContracts(problems, steps, new Set(inputs.map(({ name }) => name)), order);
  if (concurrency !== undefined) checkConcurrency(reader, concurrency, new Set(inputs.map(({ name }) => name)));
  checkPrompts(problems, steps);
  checkSubWorkflows(problems, steps);
  checkSize(reader, steps);
  if (identity === undefined || problems.any) return undefined;
  return create(WorkflowDefinitionSchema, {
    id: identity.id,
    version: identity.version,
    onError: isContinue ? OnError.CONTINUE : OnError.FAIL_FAST,
    inputs,
    steps: steps.map((step) => buildStep(step, contracts.get(step))),
    workflowYaml: text,
    parallelMax,
    priority,
    concurrency: concurrency?.concurrency,
    deadline: deadlineMs === undefined ? undefined : durationFromMs(deadlineMs),
  });
}

/** A workflow that many steps name is in the definition as often: that is counted before it is made. */
function checkSize({ problems }: YamlReader, steps: readonly StepDraft[]): void {
  const sizes = new Map<WorkflowDefinition, number>();
  let total = 0;
  for (const { kind } of steps) {
    if (kind.type !== "workflow" || kind.definition === undefined) continue;
    const size = sizes.get(kind.definition) ?? toBinary(WorkflowDefinitionSchema, kind.definition).length;
    sizes.set(kind.definition, size);
    total += size;
    if (total <= DEFINITION_BYTES_MAX) continue;
    problems.add(kind.name.offset, `the workflows that this one names take more than ${DEFINITION_BYTES_MAX} bytes together`);
    return;
  }
}

function readWorkflow(reader: YamlReader, entry: YamlEntry | undefined): ReturnType<typeof readIdentity> {
  if (entry === undefined) {
    reader.problems.add(0, "no `workflow`; expected a mapping with id and version");
    return undefined;
  }
  const entries = reader.mapping(entry.value, "workflow");
  if (entries === undefined) return undefined;
  reader.checkKeys(entries, "workflow", ["id", "version", "description"]);
  const description = entries.get("description");
  if (description !== undefined) reader.text(description.value, "the workflow's description", 4096);
  return readIdentity(reader, entries, "workflow", entry.offset);
}

function readSteps(reader: YamlReader, entry: YamlEntry | undefined, sources: StepSources): StepDraft[] {
  if (entry === undefined) {
    reader.problems.add(0, "no `steps`; expected a list of at least one step");
    return [];
  }
  const items = reader.list(entry.value, "steps") ?? [];
  if (items.length === 0) reader.problems.add(startOf(entry.value), "`steps` is empty; expected at least one step");
  if (items.length > STEPS_MAX) {
    reader.problems.add(startOf(entry.value), `${items.length} steps; at most ${STEPS_MAX} are allowed`);
    return [];
  }
  return items.flatMap((item) => readStep(reader, item, sources) ?? []);
}

/** An input that nobody declared: required where a step is sure to fail without it. */
function inferredInput([name, required]: [string, boolean]): InputDeclaration {
  return create(InputDeclarationSchema, { name, required });
}
