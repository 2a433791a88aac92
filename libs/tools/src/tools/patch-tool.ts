import { ForgeError } from "@forge/protocol";
import { RiskLevel } from "@forge/protocol/tool";
import { type ChangePlan, isUnchanged } from "../changes/change-plan.ts";
import { previewOf } from "../changes/change-preview.ts";
import { sha256Of } from "../changes/file-state.ts";
import type { WorkspaceChanges } from "../changes/workspace-changes.ts";
import { parseUnifiedDiff } from "../patch/parse-unified-diff.ts";
import { planEdits, planPatch } from "../patch/plan-patch.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import type { JsonValue, ToolDefinition } from "./tool-definition.ts";

interface PatchArguments {
  patch?: string;
  edits?: { path: string; search: string; replace: string; all?: boolean }[];
}

const PATCH_LENGTH_MAX = 4 * 1024 * 1024;
const EDITS_MAX = 256;

/** Changes parts of files: all that it is told or nothing. */
export function patchTool(changes: WorkspaceChanges): ToolDefinition<PatchArguments> {
  return {
    name: "tools.patch",
    description:
      "Changes text files of the workspace, all of them or none. Give either patch, a unified diff of one or many files (--- a/path, +++ b/path, @@ -line,count +line,count @@; " +
      "/dev/null for files that are made or deleted), whose context must match exactly; or edits, each of which replaces a text that the file has exactly once " +
      "(or everywhere, with all). An edit with an empty search makes a new file. Encoding, byte order mark, line ends and the end of the file are kept.",
    inputSchema: {
      type: "object",
      properties: {
        patch: { type: "string", minLength: 1, maxLength: PATCH_LENGTH_MAX, description: "A unified diff." },
        edits: {
          type: "array",
          minItems: 1,
          maxItems: EDITS_MAX,
          items: {
            type: "object",
            properties: {
              path: { type: "string", minLength: 1, maxLength: 4_096, description: "Relative to the workspace." },
              search: { type: "string", maxLength: PATCH_LENGTH_MAX },
              replace: { type: "string", maxLength: PATCH_LENGTH_MAX },
              all: { type: "boolean", description: "Replaces every occurrence." },
            },
            required: ["path", "search", "replace"],
            additionalProperties: false,
          },
        },
      },
      additionalProperties: false,
    },
    idempotent: false,
    risk: RiskLevel.CHANGE,
    timeoutMs: 60_000,
    preview: async (args, request) => previewOf(await plan(changes.guard, args), request),
    execute: async (args, call) => resultOf(await changes.carryOut(() => plan(changes.guard, args), call)),
  };
}

async function plan(guard: WorkspaceGuard, { patch, edits }: PatchArguments): Promise<ChangePlan> {
  if (patch !== undefined && edits === undefined) return planPatch(guard, parseUnifiedDiff(patch));
  // Not in the schema: providers refuse conditions at its top level.
  if (edits === undefined || patch !== undefined) {
    throw ForgeError.validation("arguments", "give either patch or edits", { origin: "tool", reason: "TOOL_ARGUMENTS" });
  }
  return planEdits(
    guard,
    edits.map(({ all = false, ...edit }) => ({ ...edit, all })),
  );
}

function resultOf(plan: ChangePlan): JsonValue {
  return {
    files: plan.map((planned) => {
      const { before, after } = planned;
      return { path: before.path, status: statusOf(planned), sha256: after === undefined ? null : sha256Of(after.bytes) };
    }),
  };
}

function statusOf(planned: ChangePlan[number]): string {
  if (isUnchanged(planned)) return "unchanged";
  if (planned.after === undefined) return "deleted";
  return planned.before.file === undefined ? "created" : "changed";
}
