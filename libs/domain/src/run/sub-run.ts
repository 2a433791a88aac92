import { ErrorCode, type Value } from "@forge/protocol/common";
import type { StepDefinition } from "@forge/protocol/workflow";
import { stepError } from "./errors.ts";
import { fitsInline, inlineValue } from "./json.ts";
import { VALUE_BYTES_MAX } from "./limits.ts";
import { failed, type Outcome, succeeded } from "./result.ts";

/** The inputs of the run that a workflow step starts: one object of what the step maps. */
export function childInputs(step: StepDefinition, input: Readonly<Record<string, Value>>): Outcome<Value> {
  const members: string[] = [];
  for (const [name, { kind }] of Object.entries(input)) {
    if (kind.case !== "json") {
      const message = `input "${name}" lies in the artifact store, which the inputs of another workflow can't refer to in part; hand on a smaller value`;
      return failed(stepError(ErrorCode.VALIDATION, "STEP_EXECUTION", step.id, message));
    }
    members.push(`${JSON.stringify(name)}:${kind.value}`);
  }
  const json = `{${members.join(",")}}`;
  if (fitsInline(json)) return succeeded(inlineValue(json));
  return failed(stepError(ErrorCode.VALIDATION, "STEP_EXECUTION", step.id, `the inputs of its workflow take more than ${VALUE_BYTES_MAX} bytes`));
}
