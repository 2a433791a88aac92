import { createHash } from "node:crypto";
import { ForgeError } from "@forge/protocol";
import { RiskLevel } from "@forge/protocol/tool";
import { appendFile } from "../workspace/append-file.ts";
import { listDirectory } from "../workspace/list-directory.ts";
import { FILE_BYTES_MAX, readTextFile } from "../workspace/read-text-file.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { writeFileAtomically } from "../workspace/write-file-atomically.ts";
import type { JsonValue, ToolDefinition } from "./tool-definition.ts";

interface FileArguments {
  operation: "read" | "write" | "append" | "list";
  path: string;
  content?: string;
}

const PATH_PROPERTY = { type: "string", minLength: 1, maxLength: 4096, description: "Relative to the workspace." };

/** Reads, writes, appends to and lists files of the workspace. A change by risk, as it can be one; tools.read_file is for those who only read. */
export function fileTool(guard: WorkspaceGuard): ToolDefinition<FileArguments> {
  return {
    name: "tools.file",
    description:
      "Works on text files (UTF-8, at most 2 MiB) of the workspace. read: the file's content. write: replaces the whole file, making it and its directories where missing. " +
      "append: adds to the end. list: the names in a directory. Paths outside of the workspace are refused.",
    inputSchema: {
      type: "object",
      properties: {
        operation: { enum: ["read", "write", "append", "list"] },
        path: PATH_PROPERTY,
        content: { type: "string", description: "Of write and append." },
      },
      required: ["operation", "path"],
      additionalProperties: false,
    },
    idempotent: false,
    risk: RiskLevel.CHANGE,
    timeoutMs: 30_000,
    execute({ operation, path, content }) {
      // Not in the schema: providers refuse conditions at its top level.
      const writes = operation === "write" || operation === "append";
      if (writes !== (content !== undefined)) {
        throw ForgeError.validation("arguments.content", `${operation} ${writes ? "needs" : "takes no"} content`, { origin: "tool", reason: "TOOL_ARGUMENTS" });
      }
      return OPERATIONS[operation](guard, path, content ?? "");
    },
  };
}

/** Reads a file of the workspace; never asks, where reading is allowed. */
export function readFileTool(guard: WorkspaceGuard): ToolDefinition<{ path: string }> {
  return {
    name: "tools.read_file",
    description: "The content of a text file (UTF-8, at most 2 MiB) of the workspace. Paths outside of the workspace are refused.",
    inputSchema: { type: "object", properties: { path: PATH_PROPERTY }, required: ["path"], additionalProperties: false },
    idempotent: true,
    risk: RiskLevel.READ,
    timeoutMs: 30_000,
    execute: ({ path }) => OPERATIONS.read(guard, path, ""),
  };
}

const OPERATIONS: Record<FileArguments["operation"], (guard: WorkspaceGuard, path: string, content: string) => Promise<JsonValue>> = {
  async read(guard, path) {
    const file = await readTextFile(guard, path);
    return { path, content: file.content, size: file.size };
  },
  async list(guard, path) {
    return { ...(await listDirectory(guard, path)) };
  },
  async write(guard, path, content) {
    const bytes = encode(content);
    await writeFileAtomically(guard, path, bytes);
    return { path, bytes_written: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
  },
  async append(guard, path, content) {
    const bytes = encode(content);
    const size = await appendFile(guard, path, bytes);
    return { path, bytes_written: bytes.length, size };
  },
};

function encode(content: string): Buffer {
  // Half of a surrogate pair has no UTF-8; writing U+FFFD instead would silently change what was asked for.
  if (!content.isWellFormed()) throw ForgeError.validation("arguments.content", "content holds half of a character (a lone surrogate)", { origin: "tool" });
  const bytes = Buffer.from(content, "utf8");
  if (bytes.length > FILE_BYTES_MAX)
    throw ForgeError.validation("arguments.content", `content has ${bytes.length} bytes, more than ${FILE_BYTES_MAX}`, { origin: "tool" });
  return bytes;
}
