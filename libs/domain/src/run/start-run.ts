import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { StartChildRun } from "@forge/protocol/engine";
import { RunCreatedSchema } from "@forge/protocol/event";
import { OverwritePolicy, type RunParent, RunStatus, type StartRunRequest, StartRunResponseSchema, type WorkflowDefinition } from "@forge/protocol/workflow";
import type { Context, Rejected } from "../decider.ts";
import { canonicalJson } from "./canonical-json.ts";
import { beginOrQueue, concurrencyOf } from "./concurrency.ts";
import { refusal } from "./errors.ts";
import { InvalidField } from "./invalid-field.ts";
import { RUN_DEPTH_MAX } from "./limits.ts";
import { type RunRecorder, record } from "./recorder.ts";
import type { RunResult } from "./run-command.ts";
import { bindInputs } from "./run-inputs.ts";
import { unservedTools } from "./unserved-tools.ts";
import { validateDefinition } from "./validate-definition.ts";
import { validateStart } from "./validate-start.ts";
import { workflowHash } from "./workflow-hash.ts";

/** Where a request names none. */
const QUEUE_DEFAULT = "default";

/** Starts a run: what is wrong with the request is refused by field before anything is recorded; then the first step begins. */
export function startRun(run: RunRecorder, request: StartRunRequest): RunResult | Rejected {
  return start(run, request, { parent: undefined, depth: 0, heldConcurrencyKeys: [] });
}

/** The same for another run's step. */
export function startChildRun(run: RunRecorder, { request, parent, depth, heldConcurrencyKeys }: StartChildRun): RunResult | Rejected {
  if (request === undefined) throw new Error("a run was started without a request");
  if (depth > RUN_DEPTH_MAX) return refusal(ErrorCode.RESOURCE_EXHAUSTED, "RUN_DEPTH", `runs are nested more than ${RUN_DEPTH_MAX} deep`, parent?.runId ?? "");
  return start(run, request, { parent, depth, heldConcurrencyKeys });
}

/** What is above a run. */
interface Above {
  readonly parent: RunParent | undefined;
  readonly depth: number;
  readonly heldConcurrencyKeys: string[];
}

function start(run: RunRecorder, request: StartRunRequest, above: Above): RunResult | Rejected {
  const { context } = run;
  if (run.state.status !== RunStatus.UNSPECIFIED) {
    return refusal(ErrorCode.CONFLICT, "RUN_EXISTS", `run ${context.streamId} was started already; read it with GetRun`, context.streamId);
  }
  const checked = check(request, context, above.heldConcurrencyKeys);
  if ("rejection" in checked) return checked;
  const { definition, inputs, inputsJson, concurrency } = checked;
  const queue = request.queue || QUEUE_DEFAULT;
  const value = create(RunCreatedSchema, {
    definition,
    workflowHash: workflowHash(definition, context),
    inputs,
    inputHash: context.sha256(inputsJson),
    labels: request.labels,
    queue,
    modelOverride: request.modelOverride,
    policy: request.policy,
    overwritePolicy: request.overwritePolicy || OverwritePolicy.WARN,
    ...above,
    concurrencyKey: concurrency?.key,
    concurrencyLimit: concurrency?.limit,
    priority: request.priority ?? definition.priority,
  });
  record(run, { case: "runCreated", value });
  beginOrQueue(run);
  return create(StartRunResponseSchema, { runId: context.streamId, warnings: unservedTools(definition, queue, context) });
}

interface Checked {
  readonly definition: WorkflowDefinition;
  readonly inputs: ReturnType<typeof bindInputs>["value"];
  readonly inputsJson: string;
  readonly concurrency: ReturnType<typeof concurrencyOf>;
}

function check(request: StartRunRequest, context: Context, held: readonly string[]): Checked | Rejected {
  try {
    validateStart(request);
    const definition = validateDefinition(request.definition, request.modelOverride);
    const { value, parsed } = bindInputs(definition, request.inputs, context);
    return { definition, inputs: value, inputsJson: canonicalJson(parsed), concurrency: concurrencyOf(request, definition, parsed, held) };
  } catch (error) {
    if (error instanceof InvalidField)
      return { rejection: ForgeError.validation(error.field, error.message, { reason: error.reason, origin: "control-plane" }).detail };
    throw error;
  }
}
