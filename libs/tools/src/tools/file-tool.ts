import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { RiskLevel, type ToolPreview, ToolPreviewSchema } from "@forge/protocol/tool";
import type { ChangePlan } from "../changes/change-plan.ts";
import { previewOf } from "../changes/change-preview.ts";
import { type FileState, readFileState, sha256Of } from "../changes/file-state.ts";
import type { WorkspaceChanges } from "../changes/workspace-changes.ts";
import { requireKnownCharacters } from "../patch/known-characters.ts";
import { oneLine } from "../text.ts";
import { fileTooLarge } from "../workspace/file-error.ts";
import { listDirectory } from "../workspace/list-directory.ts";
import { FILE_BYTES_MAX, RANGED_FILE_BYTES_MAX, readTextFile } from "../workspace/read-text-file.ts";
import { decodeText, encodeText } from "../workspace/text-content.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import type { JsonValue, ToolCall, ToolDefinition } from "./tool-definition.ts";

interface ReadArguments {
  path: string;
  start_line?: number;
  end_line?: number;
}

interface FileArguments extends ReadArguments {
  operation: "read" | "write" | "append" | "list";
  content?: string;
}

/** What is replaced may be larger than what may be written; it is shown, and needed to take the change back. */
const REPLACED_BYTES_MAX = 4 * 1024 * 1024;

const PATH_PROPERTY = { type: "string", minLength: 1, maxLength: 4096, description: "Relative to the workspace." };
const RANGE_PROPERTIES = {
  start_line: { type: "integer", minimum: 1, description: "Of read: the first line, from 1." },
  end_line: { type: "integer", minimum: 1, description: "Of read: the last line, itself included." },
};

/** Reads, writes, appends to and lists files of the workspace. A change by risk, as it can be one; tools.read_file is for those who only read. */
export function fileTool(changes: WorkspaceChanges): ToolDefinition<FileArguments> {
  const { guard } = changes;
  return {
    name: "tools.file",
    description:
      "Works on text files (at most 2 MiB) of the workspace. read: the file's content, or the lines from start_line to end_line. write: replaces the whole file (UTF-8), making it " +
      "and its directories where missing. append: adds to the end. list: the names in a directory. Paths outside of the workspace are refused.",
    inputSchema: {
      type: "object",
      properties: {
        operation: { enum: ["read", "write", "append", "list"] },
        path: PATH_PROPERTY,
        content: { type: "string", description: "Of write and append." },
        ...RANGE_PROPERTIES,
      },
      required: ["operation", "path"],
      additionalProperties: false,
    },
    idempotent: false,
    risk: RiskLevel.CHANGE,
    timeoutMs: 30_000,
    async preview(args, request) {
      requireFitting(args);
      return isChange(args) ? previewOf(await plan(guard, args), request) : readPreview(args);
    },
    execute(args, call) {
      requireFitting(args);
      if (args.operation === "read") return read(guard, args);
      if (args.operation === "list") return list(guard, args.path);
      return change(changes, args, call);
    },
  };
}

/** Reads a file of the workspace; never asks, where reading is allowed. */
export function readFileTool(guard: WorkspaceGuard): ToolDefinition<ReadArguments> {
  return {
    name: "tools.read_file",
    description:
      "The content of a text file of the workspace (at most 2 MiB), or its lines from start_line to end_line (of at most 32 MiB). Paths outside of the workspace are refused.",
    inputSchema: { type: "object", properties: { path: PATH_PROPERTY, ...RANGE_PROPERTIES }, required: ["path"], additionalProperties: false },
    idempotent: true,
    risk: RiskLevel.READ,
    timeoutMs: 30_000,
    execute: (args) => read(guard, args),
  };
}

/** Not in the schema: providers refuse conditions at its top level. */
function requireFitting({ operation, content, start_line, end_line }: FileArguments): void {
  const writes = operation === "write" || operation === "append";
  if (writes !== (content !== undefined)) throw unfitting("content", `${operation} ${writes ? "needs" : "takes no"} content`);
  if (content?.isWellFormed() === false) throw unfitting("content", "content holds half of a character (a lone surrogate)");
  if (operation !== "read" && (start_line !== undefined || end_line !== undefined)) throw unfitting("start_line", `${operation} takes no lines`);
}

function unfitting(field: string, what: string): ForgeError {
  return ForgeError.validation(`arguments.${field}`, what, { origin: "tool", reason: "TOOL_ARGUMENTS" });
}

function isChange({ operation }: FileArguments): boolean {
  return operation === "write" || operation === "append";
}

function readPreview({ operation, path }: FileArguments): ToolPreview {
  return create(ToolPreviewSchema, { title: oneLine(`${operation} ${path}`, 256), risk: RiskLevel.READ, paths: [path] });
}

async function read(guard: WorkspaceGuard, { path, start_line: start, end_line: end }: ReadArguments): Promise<JsonValue> {
  const isRange = start !== undefined || end !== undefined;
  const { content, size, encoding } = await readTextFile(guard, path, isRange ? RANGED_FILE_BYTES_MAX : FILE_BYTES_MAX);
  const file = { path, size, ...(encoding === "utf-8" ? {} : { encoding }) };
  return isRange ? { ...file, ...linesOf(content, start ?? 1, end ?? Number.MAX_SAFE_INTEGER, path) } : { ...file, content };
}

function linesOf(content: string, start: number, end: number, path: string): { content: string; start_line: number; end_line: number; total_lines: number } {
  if (start > end) throw unfitting("end_line", `the last line, ${end}, is before the first, ${start}`);
  const lines = content.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  if (start > Math.max(lines.length, 1)) throw unfitting("start_line", `${path} has ${lines.length} lines, and none with number ${start}`);
  const found = lines.slice(start - 1, end).join("");
  if (found.length > FILE_BYTES_MAX)
    throw ForgeError.validation("arguments.end_line", "these lines are more than 2 MiB", { origin: "tool", reason: "FILE_TOO_LARGE" });
  return { content: found, start_line: start, end_line: Math.min(end, lines.length), total_lines: lines.length };
}

async function list(guard: WorkspaceGuard, path: string): Promise<JsonValue> {
  return { ...(await listDirectory(guard, path)) };
}

async function change(changes: WorkspaceChanges, args: FileArguments, call: ToolCall): Promise<JsonValue> {
  const [planned] = await changes.carryOut(() => plan(changes.guard, args), call);
  const bytes = planned?.after?.bytes ?? Buffer.alloc(0);
  if (args.operation === "append") return { path: args.path, bytes_written: Buffer.byteLength(args.content ?? ""), size: bytes.length };
  return { path: args.path, bytes_written: bytes.length, sha256: sha256Of(bytes) };
}

async function plan(guard: WorkspaceGuard, { operation, path, content = "" }: FileArguments): Promise<ChangePlan> {
  const added = encodeText(content, { encoding: "utf-8", hasMark: false }, path);
  const before = await readFileState(guard, path, REPLACED_BYTES_MAX);
  const bytes = operation === "append" ? Buffer.concat([appendable(before, content), added]) : added;
  if (bytes.length > FILE_BYTES_MAX) {
    throw fileTooLarge(path, `would have ${bytes.length} bytes, more than ${FILE_BYTES_MAX}`);
  }
  return [{ before, after: { bytes, mode: undefined } }];
}

/** What is added to: text, and such that what is added is of its encoding. */
function appendable({ path, file }: FileState, content: string): Buffer {
  if (file === undefined) return Buffer.alloc(0);
  requireKnownCharacters(decodeText(file.bytes, path).encoding, "", content, path);
  return file.bytes;
}
