import { ForgeError } from "@forge/protocol";
import type { WorkflowDefinition } from "@forge/protocol/workflow";
import type { Context, Rejected } from "../decider.ts";
import { InvalidField } from "./invalid-field.ts";
import { validateDefinition } from "./validate-definition.ts";
import { workflowHash } from "./workflow-hash.ts";

/** A definition as a run of it would keep it, and its hash; or why no run of it can start, whatever the inputs. */
export function checkDefinition(
  definition: WorkflowDefinition | undefined,
  context: Pick<Context, "sha256">,
): { readonly definition: WorkflowDefinition; readonly hash: string } | Rejected {
  try {
    const checked = validateDefinition(definition, "");
    return { definition: checked, hash: workflowHash(checked, context) };
  } catch (error) {
    if (error instanceof InvalidField)
      return { rejection: ForgeError.validation(error.field, error.message, { reason: error.reason, origin: "control-plane" }).detail };
    throw error;
  }
}
