import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { type HookEdit, HookEditSchema } from "@forge/protocol/event";
import { Role } from "@forge/protocol/session";

/** One thing that a hook changes, as people write it. */
export type HookChange =
  /** Joins the conversation here; an ephemeral one only for this turn. At most 16 KiB. The role is user or system; absent: system. */
  | { readonly addMessage: { readonly text: string; readonly role?: "user" | "system"; readonly ephemeral?: boolean } }
  /** At on_user_message the message's text, at on_post_llm the answer's, as models read it from now on. At most 64 KiB. */
  | { readonly replaceText: string }
  /** The turn ends; for people, at most 1,024 characters. Not at on_post_llm. */
  | { readonly block: string }
  /** At on_post_llm: another model call follows. */
  | { readonly goOn: true }
  /** At on_post_llm: this call of the answer is not made, and the model is told why. */
  | { readonly denyCall: { readonly toolCallId: string; readonly reason: string } };

const EDITS_MAX = 16;

/**
 * What a hook answered, as edits: nothing, one change or a list of them, with names as in TypeScript or as in Python and JSON (add_message). Whether they are
 * possible at that point, the control plane looks at. Errors: validation, HOOK_RESULT, naming the field.
 */
export function hookEdits(answer: unknown): HookEdit[] {
  if (answer === undefined || answer === null) return [];
  const changes: unknown[] = Array.isArray(answer) ? answer : [answer];
  if (changes.length > EDITS_MAX) throw invalid("edits", `has ${changes.length} entries: at most ${EDITS_MAX}`);
  return changes.map((change, index) => create(HookEditSchema, { kind: kindOf(change, `edits.${index}`) }));
}

type Kind = MessageInitShape<typeof HookEditSchema>["kind"];

function kindOf(change: unknown, field: string): Kind {
  const [entry, ...others] = Object.entries(objectOf(change, field));
  if (entry === undefined || others.length > 0) throw invalid(field, "must have exactly one of add_message, replace_text, block, go_on and deny_call");
  const [name, value] = entry;
  switch (name) {
    case "addMessage":
    case "add_message":
      return { case: "addMessage", value: messageOf(objectOf(value, `${field}.${name}`), `${field}.${name}`) };
    case "replaceText":
    case "replace_text":
      return { case: "replaceText", value: textOf(value, `${field}.${name}`) };
    case "block":
      return { case: "block", value: textOf(value, `${field}.${name}`) };
    case "goOn":
    case "go_on":
      if (value !== true) throw invalid(`${field}.${name}`, "must be true");
      return { case: "goOn", value };
    case "denyCall":
    case "deny_call": {
      const denied = objectOf(value, `${field}.${name}`);
      const toolCallId = textOf(denied.toolCallId ?? denied.tool_call_id, `${field}.${name}.tool_call_id`);
      return { case: "denyCall", value: { toolCallId, reason: textOf(denied.reason, `${field}.${name}.reason`) } };
    }
    default:
      throw invalid(`${field}.${name}`, "is not known: add_message, replace_text, block, go_on and deny_call are");
  }
}

function messageOf({ text, role = "system", ephemeral = false }: Readonly<Record<string, unknown>>, field: string) {
  if (role !== "user" && role !== "system") throw invalid(`${field}.role`, "must be user or system");
  if (typeof ephemeral !== "boolean") throw invalid(`${field}.ephemeral`, "must be true or false");
  const part = { kind: { case: "text" as const, value: { text: textOf(text, `${field}.text`) } } };
  return { role: role === "user" ? Role.USER : Role.SYSTEM, ephemeral, parts: [part] };
}

function objectOf(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalid(field, "must be an object");
}

function textOf(value: unknown, field: string): string {
  if (typeof value === "string") return value;
  throw invalid(field, "must be a text");
}

function invalid(field: string, message: string): ForgeError {
  return ForgeError.validation(field, `${field} ${message}`, { reason: "HOOK_RESULT", origin: "worker" });
}
