import { OverwritePolicySchema, type StartRunRequest } from "@forge/protocol/workflow";
import { isStorable, isVisibleAscii } from "../text.ts";
import { policyProblem } from "../tool-policy.ts";
import { InvalidField } from "./invalid-field.ts";
import { CONCURRENCY_KEY_LENGTH_MAX, CONCURRENCY_LIMIT_MAX, LABELS_MAX, NAME_LENGTH_MAX, PRIORITY_MAX } from "./limits.ts";
import { checkModel } from "./names.ts";

/** Checks what a StartRun says beside definition and inputs. Throws InvalidField. */
export function validateStart(request: StartRunRequest): void {
  const labels = Object.entries(request.labels);
  if (labels.length > LABELS_MAX) throw new InvalidField("labels", `at most ${LABELS_MAX} labels, not ${labels.length}`);
  for (const [key, value] of labels) {
    if (key === "" || key.length > NAME_LENGTH_MAX || value.length > NAME_LENGTH_MAX || !isStorable(key) || !isStorable(value)) {
      throw new InvalidField("labels", `a label's key has 1 to ${NAME_LENGTH_MAX} characters, its value at most ${NAME_LENGTH_MAX}, neither with NUL`);
    }
  }
  if (request.queue !== "" && (request.queue.length > NAME_LENGTH_MAX || !isVisibleAscii(request.queue))) {
    throw new InvalidField("queue", `a queue's name has at most ${NAME_LENGTH_MAX} visible ASCII characters`);
  }
  const { concurrencyKey, concurrencyLimit, priority } = request;
  if (concurrencyKey.length > CONCURRENCY_KEY_LENGTH_MAX || !isStorable(concurrencyKey) || (concurrencyKey !== "" && concurrencyKey.trim() === "")) {
    throw new InvalidField("concurrency_key", `a concurrency key has 1 to ${CONCURRENCY_KEY_LENGTH_MAX} characters without NUL`);
  }
  if (concurrencyLimit > CONCURRENCY_LIMIT_MAX) throw new InvalidField("concurrency_limit", `at most ${CONCURRENCY_LIMIT_MAX} runs at a time`);
  if (concurrencyLimit > 0 && concurrencyKey === "") throw new InvalidField("concurrency_limit", "a limit needs a concurrency_key");
  if (priority !== undefined && priority > PRIORITY_MAX) throw new InvalidField("priority", `a priority is 0 to ${PRIORITY_MAX}`);
  if (request.modelOverride !== "") checkModel("model_override", request.modelOverride);
  if (OverwritePolicySchema.value[request.overwritePolicy] === undefined) throw new InvalidField("overwrite_policy", "expected WARN, STRICT or ALLOW");
  const wrong = request.policy === undefined ? undefined : policyProblem(request.policy);
  if (wrong !== undefined) throw new InvalidField(wrong.field, wrong.message);
}
