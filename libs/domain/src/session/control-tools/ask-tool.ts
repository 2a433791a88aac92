import { create } from "@bufbuild/protobuf";
import { RiskLevel, ToolSpecSchema } from "@forge/protocol/tool";
import { isStorable } from "../../text.ts";

const QUESTION_MAX = 4_096;

/**
 * The control plane asks a person and returns what he answers. It takes part in the gate like any other; it has no
 * effect, so that the default policy allows it.
 */
export const ASK_TOOL = create(ToolSpecSchema, {
  name: "tools.ask",
  description:
    "Asks the person whom you work for a question, and returns the answer as text. Use it where you can't go on without knowing what the person wants.",
  inputSchemaJson: JSON.stringify({
    type: "object",
    properties: { question: { type: "string", minLength: 1, maxLength: QUESTION_MAX, description: "The question, in full: the person may see nothing else." } },
    required: ["question"],
  }),
  risk: RiskLevel.READ,
  idempotent: true,
});

/** The question in a call's arguments; undefined where they hold none that can be asked. */
export function questionOf(argumentsJson: string): string | undefined {
  const { question } = JSON.parse(argumentsJson) as { readonly question?: unknown };
  if (typeof question !== "string" || question.trim() === "" || question.length > QUESTION_MAX || !isStorable(question)) return undefined;
  return question;
}

/** What a call has to look like, for a model that got it wrong. */
export const QUESTION_EXPECTED = "The argument question has to be a text of 1 to 4,096 characters.";
