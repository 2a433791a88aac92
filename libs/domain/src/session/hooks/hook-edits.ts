import type { HookEdit } from "@forge/protocol/event";
import { HookAt, HookAtSchema, type Message, Role, type ToolCallPart } from "@forge/protocol/session";
import { isStorable, utf8Length } from "../../text.ts";

const EDITS_MAX = 16;
const MESSAGE_BYTES_MAX = 16_384;
const TEXT_BYTES_MAX = 65_536;
const BLOCK_MAX = 1_024;
const REASON_MAX = 1_024;
const PARTS_MAX = 16;

/** What a hook may change at each point. */
const ALLOWED: Readonly<Record<number, ReadonlySet<HookEdit["kind"]["case"]>>> = {
  [HookAt.USER_MESSAGE]: new Set(["addMessage", "replaceText", "block"]),
  [HookAt.PRE_LLM]: new Set(["addMessage", "block"]),
  [HookAt.POST_LLM]: new Set(["addMessage", "replaceText", "goOn", "denyCall"]),
};

/** Why a hook's edits can't be made, as a sentence; undefined where they can. None of them is made then. `calls` are those of the answer. */
export function editsProblem(edits: readonly HookEdit[], at: HookAt, calls: readonly ToolCallPart[]): string | undefined {
  if (edits.length > EDITS_MAX) return `There are ${edits.length} edits; there may be ${EDITS_MAX}.`;
  for (const [index, edit] of edits.entries()) {
    const problem = editProblem(edit, at, calls);
    if (problem !== undefined) return `Edit ${index}: ${problem}`;
  }
  return undefined;
}

function editProblem({ kind }: HookEdit, at: HookAt, calls: readonly ToolCallPart[]): string | undefined {
  if (kind.case === undefined) return "It says nothing.";
  if (ALLOWED[at]?.has(kind.case) !== true) return `${kind.case} is not possible at ${HookAtSchema.value[at]?.name ?? at}.`;
  switch (kind.case) {
    case "addMessage":
      return messageProblem(kind.value);
    case "replaceText":
      return isStorable(kind.value) && utf8Length(kind.value) <= TEXT_BYTES_MAX
        ? undefined
        : "A text has at most 64 KiB, without NUL and half surrogate pairs.";
    case "block":
      return kind.value.length <= BLOCK_MAX && isStorable(kind.value) ? undefined : `A reason has at most ${BLOCK_MAX} characters.`;
    case "goOn":
      return undefined;
    case "denyCall": {
      const { toolCallId, reason } = kind.value;
      if (!calls.some((call) => call.toolCallId === toolCallId)) return `The answer has no call ${JSON.stringify(toolCallId)}.`;
      return reason.length <= REASON_MAX && isStorable(reason) ? undefined : `A reason has at most ${REASON_MAX} characters.`;
    }
    default:
      return kind satisfies never;
  }
}

function messageProblem({ role, parts }: Message): string | undefined {
  if (role !== Role.USER && role !== Role.SYSTEM) return "A message that is added is a user's or the system's.";
  if (parts.length === 0 || parts.length > PARTS_MAX) return `A message has 1 to ${PARTS_MAX} parts.`;
  let bytes = 0;
  for (const { kind, providerMetadataJson } of parts) {
    if (kind.case !== "text" || providerMetadataJson !== "") return "A message that is added has texts only.";
    if (!isStorable(kind.value.text)) return "A text has no NUL and no half of a surrogate pair.";
    bytes += utf8Length(kind.value.text);
  }
  return bytes > 0 && bytes <= MESSAGE_BYTES_MAX ? undefined : "A message that is added has 1 byte to 16 KiB of text.";
}
