import { readFile } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { SessionSchema } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { CODING_TOOLS } from "../agent/coding-agent.ts";
import { openSession, prepareWorkspace, type SessionOptions } from "../agent/open-session.ts";
import { TurnContext } from "../agent/turn-context.ts";
import type { Context } from "../context.ts";
import { messageJson } from "../output/message-json.ts";
import { checkId } from "../server/find-stream.ts";
import type { ApproveName } from "./approve-names.ts";
import { followTurn } from "./follow-turn.ts";

export interface ExecOptions extends SessionOptions {
  readonly session?: string;
  readonly approve?: readonly ApproveName[];
  readonly deny?: readonly string[];
  readonly outputSchema?: string;
  readonly image?: readonly string[];
}

const INPUT_BYTES_MAX = 65_536;
const SCHEMA_BYTES_MAX = 16_384;
/** Nobody is there to be asked. */
const QUESTION_TOOL = "tools.ask";

/** `forge exec`: one turn without a person. What it did goes to standard error, the answer to standard output; with --json everything to standard output, a line each. */
export async function execCommand(context: Context, prompt: string, options: ExecOptions): Promise<number> {
  const { terminal, directory } = context;
  const { session: sessionId, json } = options;
  if (sessionId !== undefined) checkId(sessionId);
  const text = prompt === "-" ? await readInput() : prompt;
  if (text.trim() === "") throw ForgeError.validation("prompt", "there is nothing to do: write what, or - to read it from standard input");
  const outputSchemaJson = options.outputSchema === undefined ? undefined : await readSchema(path.resolve(directory, options.outputSchema));
  if (outputSchemaJson !== undefined && sessionId !== undefined)
    throw ForgeError.validation("output_schema", "--output-schema is for new sessions: the agent of a session is what it is");
  const approved = options.approve ?? ["NONE"];
  const tool = options.tool ?? (sessionId === undefined ? CODING_TOOLS.filter((name) => name !== QUESTION_TOOL) : undefined);
  const workspace = await prepareWorkspace(context, options, { sessionId, canAsk: false });
  const opening = { sessionId, outputSchemaJson, answer: answerOf(approved), deny: options.deny };
  const opened = await openSession(context, { ...options, tool }, workspace, opening);
  try {
    const { link, session, hint } = opened;
    if (json === true) terminal.print(JSON.stringify({ session: messageJson(SessionSchema, session) }));
    const images = (options.image ?? []).map((file) => path.resolve(directory, file));
    await using turns = new TurnContext(link);
    const input = await turns.input(text, images);
    return await followTurn(context, {
      link,
      session,
      hint,
      input,
      approved,
      json: json === true,
      hasSchema: outputSchemaJson !== undefined,
      deadlineMs: options.deadline,
    });
  } finally {
    await opened.link.close();
  }
}

/** Where everything or nothing is allowed beforehand the gate itself answers, also when this command is gone. */
function answerOf(approved: readonly ApproveName[]): Decision | undefined {
  if (approved.includes("ALL")) return Decision.ALLOW;
  return approved.every((name) => name === "NONE") ? Decision.DENY : undefined;
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > INPUT_BYTES_MAX)
      throw ForgeError.validation("prompt", `standard input has more than ${INPUT_BYTES_MAX} bytes: put it into a file, and name that with @file`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function readSchema(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw ForgeError.validation("output_schema", `${file} can't be read: ${(error as Error).message}`, { cause: error });
  });
  if (Buffer.byteLength(text) > SCHEMA_BYTES_MAX) throw ForgeError.validation("output_schema", `${file} has more than ${SCHEMA_BYTES_MAX} bytes`);
  try {
    return JSON.stringify(JSON.parse(text));
  } catch (error) {
    throw ForgeError.validation("output_schema", `${file} is no JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
