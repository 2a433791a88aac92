import { setTimeout as delay } from "node:timers/promises";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type Client, isInputRequiredResult, ProtocolError, ProtocolErrorCode, SdkError } from "@modelcontextprotocol/client";
import { InputRequired } from "../tools/input-required.ts";
import { outcomeUnknown } from "../tools/stop-unconfirmed.ts";
import type { ToolCall } from "../tools/tool-definition.ts";
import { answerTo, type Elicitation, type ElicitationAnswer, questionOf } from "./elicitation.ts";
import { mcpError } from "./mcp-errors.ts";
import type { McpResult } from "./mcp-output.ts";
import type { McpSession } from "./mcp-session.ts";
import { OpenCall } from "./open-call.ts";

/** The SDK wants a limit; the call's own signal comes long before it. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
/** How often one call may go on without asking anybody. */
const ROUNDS_MAX = 10;
const RESUME_BYTES_MAX = 16 * 1024;
/** Calls that wait for a person in one server. The oldest is given up for the next. */
const PARKED_MAX = 64;

/** How long it is waited for why a connection ended. */
const ENDING_MS = 2_000;
const PROGRESS_MAX = 1024;
/** A plain number, as the SDK's errors carry any code that a server answers with. */
const INVALID_PARAMS: number = ProtocolErrorCode.InvalidParams;

/** What a call of the newer protocol leaves for itself while a person is asked. */
interface Resume {
  readonly requests: Readonly<Record<string, Elicitation>>;
  readonly answers: Readonly<Record<string, ElicitationAnswer>>;
  readonly state?: string;
}

/** The calls of one connection, with the questions that the server asks in them. */
export class McpCalls {
  readonly #session: McpSession;
  readonly #server: string;
  readonly #parked = new Map<string, OpenCall>();
  #active: OpenCall | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(session: McpSession, server: string) {
    this.#session = session;
    this.#server = server;
    session.client.setRequestHandler("elicitation/create", ({ params }) => this.#active?.ask(params as Elicitation) ?? { action: "cancel" });
  }

  /**
   * Calls a tool, or goes on with a call that had asked something. Throws InputRequired where the server asks a person. Errors that don't tell whether the call
   * had an effect are marked as unknown.
   */
  async call(tool: string, args: Readonly<Record<string, unknown>>, call: ToolCall): Promise<McpResult> {
    try {
      return await (this.#session.isLegacy ? this.#callLegacy(tool, args, call) : this.#callModern(tool, args, call));
    } catch (error) {
      if (error instanceof InputRequired || error instanceof ForgeError) throw error;
      throw await this.#explain(error, call.signal);
    }
  }

  /** The server's questions carry no name of the call that they are about: so one call at a time runs, and those that wait for a person beside it. */
  async #callLegacy(tool: string, args: Readonly<Record<string, unknown>>, call: ToolCall): Promise<McpResult> {
    const release = await this.#takeTurn(call.signal);
    try {
      const open = call.resumeJson === "" ? this.#open(tool, args) : this.#resume(call);
      this.#active = open;
      open.progress = (message, fraction) => call.progress(message, fraction);
      const next = await open.next(call.signal);
      if ("result" in next) return next.result;
      this.#park(call.idempotencyKey, open);
      throw new InputRequired(questionOf(this.#server, next.asked), "{}");
    } finally {
      this.#active = undefined;
      release();
    }
  }

  #open(tool: string, args: Readonly<Record<string, unknown>>): OpenCall {
    return new OpenCall((signal, progress) => request(this.#session.client, { name: tool, arguments: { ...args } }, signal, progress) as Promise<McpResult>);
  }

  #resume({ idempotencyKey, inputs }: ToolCall): OpenCall {
    const open = this.#parked.get(idempotencyKey);
    if (open === undefined) {
      throw outcomeUnknown(
        mcpError(
          ErrorCode.CONFLICT,
          "INPUT_LOST",
          `the MCP server ${this.#server} was started anew while its question waited for an answer: what it had begun is lost`,
        ),
      );
    }
    const { asked } = open;
    if (asked !== undefined) {
      const answer = answerTo(asked, inputs.at(-1) ?? "");
      if ("problem" in answer) throw new InputRequired(questionOf(this.#server, asked, answer.problem), "{}");
      open.answer(answer);
    }
    this.#parked.delete(idempotencyKey);
    return open;
  }

  #park(key: string, open: OpenCall): void {
    this.#parked.set(key, open);
    const [oldest] = this.#parked.keys();
    if (this.#parked.size <= PARKED_MAX || oldest === undefined) return;
    this.#parked.get(oldest)?.abort();
    this.#parked.delete(oldest);
  }

  async #takeTurn(signal: AbortSignal): Promise<() => void> {
    const before = this.#turn;
    const mine = Promise.withResolvers<void>();
    this.#turn = before.then(() => mine.promise);
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      signal.throwIfAborted();
      await Promise.race([before, aborted.promise]);
      return mine.resolve;
    } catch (error) {
      mine.resolve();
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Questions come as an answer, with a state that goes back with what the person said: nothing is kept here, so the call goes on after any restart. */
  async #callModern(tool: string, args: Readonly<Record<string, unknown>>, call: ToolCall): Promise<McpResult> {
    let params: Record<string, unknown> = { name: tool, arguments: { ...args } };
    if (call.resumeJson !== "") params = { ...params, ...this.#answered(JSON.parse(call.resumeJson) as Resume, call.inputs.at(-1) ?? "") };
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const result = await abortable(
        request(this.#session.client, params, call.signal, (message, fraction) => call.progress(message, fraction)),
        call.signal,
      );
      if (!isInputRequiredResult(result)) return result as McpResult;
      const requests = Object.entries(result.inputRequests ?? {});
      const foreign = requests.find(([, { method }]) => method !== "elicitation/create");
      if (foreign !== undefined) {
        throw outcomeUnknown(
          mcpError(ErrorCode.UNSUPPORTED, "MCP_INPUT_UNSUPPORTED", `the MCP server ${this.#server} asks for ${foreign[1].method}, which is not supported`),
        );
      }
      const asked = Object.fromEntries(requests.map(([key, { params: elicitation }]) => [key, elicitation as Elicitation]));
      if (requests.length > 0) throw this.#ask({ requests: asked, answers: {}, state: result.requestState });
      params = { name: tool, arguments: { ...args }, requestState: result.requestState };
    }
    throw outcomeUnknown(
      mcpError(ErrorCode.RESOURCE_EXHAUSTED, "MCP_ROUNDS", `the MCP server ${this.#server} did not come to an end of the call within ${ROUNDS_MAX} rounds`, {
        retryable: false,
      }),
    );
  }

  #answered({ requests, answers, state }: Resume, written: string): { inputResponses: Resume["answers"]; requestState?: string } {
    const key = openKey({ requests, answers }) as string;
    const asked = requests[key] as Elicitation;
    const answer = answerTo(asked, written);
    if ("problem" in answer) throw this.#ask({ requests, answers, state }, answer.problem);
    const known = { ...answers, [key]: answer };
    if (openKey({ requests, answers: known }) !== undefined) throw this.#ask({ requests, answers: known, state });
    return { inputResponses: known, ...(state === undefined ? {} : { requestState: state }) };
  }

  #ask(resume: Resume, problem?: string): Error {
    const resumeJson = JSON.stringify(resume);
    if (Buffer.byteLength(resumeJson) > RESUME_BYTES_MAX) {
      const message = `the MCP server ${this.#server} asks for input with a state of more than ${RESUME_BYTES_MAX} bytes`;
      return outcomeUnknown(mcpError(ErrorCode.RESOURCE_EXHAUSTED, "MCP_INPUT_TOO_LARGE", message, { retryable: false }));
    }
    return new InputRequired(questionOf(this.#server, resume.requests[openKey(resume) as string] as Elicitation, problem), resumeJson);
  }

  async #explain(thrown: unknown, signal: AbortSignal): Promise<ForgeError> {
    if (signal.aborted && signal.reason instanceof ForgeError) return outcomeUnknown(ForgeError.from(signal.reason.detail));
    if (thrown instanceof ProtocolError) {
      // The server itself said no.
      const code = thrown.code === INVALID_PARAMS ? ErrorCode.VALIDATION : ErrorCode.INTERNAL;
      return mcpError(code, "MCP_ERROR", `the MCP server ${this.#server} answered with an error: ${thrown.message}`, { cause: thrown });
    }
    // Why it ended is known a moment after the call was lost.
    const ending = await Promise.race([this.#session.ended, delay(ENDING_MS, undefined, { ref: false })]);
    const why = ending ?? (thrown instanceof SdkError || thrown instanceof Error ? thrown.message : String(thrown));
    return outcomeUnknown(
      mcpError(ErrorCode.INTERNAL, "MCP_SERVER_LOST", `the MCP server ${this.#server} was lost in the call, which may have had its effect: ${why}`, {
        cause: thrown,
      }),
    );
  }
}

/** The first question that has no answer yet. */
function openKey({ requests, answers }: Pick<Resume, "requests" | "answers">): string | undefined {
  return Object.keys(requests).find((key) => !Object.hasOwn(answers, key));
}

function request(client: Client, params: Record<string, unknown>, signal: AbortSignal, progress: ToolCall["progress"]): Promise<unknown> {
  return client.callTool(params as { name: string }, {
    signal,
    timeout: NO_TIMEOUT_MS,
    allowInputRequired: true,
    onprogress: ({ message, progress: done, total }) => {
      const fraction = total === undefined || total <= 0 ? undefined : Math.min(1, Math.max(0, done / total));
      progress((message ?? "").slice(0, PROGRESS_MAX), fraction);
    },
    // What a server says of its own answers decides nothing here, and an answer that asks for input does not match it.
    toolDefinition: { name: params.name as string, inputSchema: { type: "object" } },
  });
}

/** The SDK is not relied on to end with the signal. */
async function abortable<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(new Error("aborted"));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    work.catch(() => {});
  }
}
