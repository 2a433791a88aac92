import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { OutputDelta } from "@forge/protocol/worker";
import { StreamBroken, UnsupportedContent } from "../failure/stream-error.ts";
import type { ToolNames } from "../request/tool-names.ts";
import { AnswerDeltas } from "./answer-deltas.ts";
import type { WrittenCall, WrittenPart, WrittenText } from "./written-part.ts";

/** UTF-16 code units of one answer, all parts together: ten times what the longest-winded models write. */
export const OUTPUT_CHARACTERS_MAX = 4 * 1024 * 1024;

/** Parts of one answer. */
export const OUTPUT_PARTS_MAX = 4096;

export interface AnswerOptions {
  readonly toolNames: ToolNames;
  readonly epoch: number;
  readonly report: (kind: OutputDelta["kind"]) => void;
  /** Called at the first piece of output. */
  readonly onFirstOutput: () => void;
}

/** What a model has written so far, gathered from its stream in the provider's order. */
export class Answer {
  readonly #options: AnswerOptions;
  readonly #deltas: AnswerDeltas;
  readonly #parts: WrittenPart[] = [];
  /** Open blocks and calls by the stream's own ids, which may be used again once ended. */
  readonly #texts = new Map<string, WrittenText>();
  readonly #calls = new Map<string, { part: WrittenCall; isText: boolean }>();
  #characters = 0;
  #hasOutput = false;
  providerModel = "";
  responseId: string | undefined;
  metadata: SharedV4ProviderMetadata | undefined;
  usage: LanguageModelV4Usage | undefined;
  finishReason: LanguageModelV4FinishReason | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#deltas = new AnswerDeltas(options.epoch, options.report);
  }

  /** Whether anything of the answer has come: then the call can't be repeated unnoticed. */
  get hasOutput(): boolean {
    return this.#hasOutput;
  }

  /** The parts with something in them. Empty text is left out unless its provider wants it back. */
  get parts(): readonly WrittenPart[] {
    return this.#parts.filter((part) => part.kind === "call" || part.text !== "" || part.metadata !== undefined);
  }

  /** Takes the stream's next part. Throws what the stream reports as its error, and where a bound is passed. */
  accept(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#openText(part.id, part.type === "text-start" ? "text" : "reasoning").metadata = part.providerMetadata;
        break;
      case "text-delta":
      case "reasoning-delta":
        this.#writeText(part.id, part.type === "text-delta" ? "text" : "reasoning", part.delta, part.providerMetadata);
        break;
      case "text-end":
      case "reasoning-end":
        this.#writeText(part.id, part.type === "text-end" ? "text" : "reasoning", "", part.providerMetadata);
        this.#texts.delete(part.id);
        break;
      case "tool-input-start":
        if (part.providerExecuted) throw new UnsupportedContent(`${part.type} of a tool that the provider runs`);
        this.#openCall(part.id, part.toolName, part.inputEncoding === "text").metadata = part.providerMetadata;
        break;
      case "tool-input-delta":
        this.#writeArguments(part.id, part.delta);
        break;
      case "tool-input-end":
        break;
      case "tool-call":
        if (part.providerExecuted) throw new UnsupportedContent(`${part.type} of a tool that the provider runs`);
        this.#completeCall(part);
        break;
      case "response-metadata":
        this.providerModel = part.modelId ?? this.providerModel;
        this.responseId = part.id ?? this.responseId;
        break;
      case "finish":
        this.#finish(part);
        break;
      case "error":
        throw part.error;
      // Said about the answer, not part of it.
      case "stream-start":
      case "ping":
      case "raw":
      case "source":
        break;
      case "tool-approval-request":
      case "tool-result":
      case "file":
      case "reasoning-file":
      case "custom":
        throw new UnsupportedContent(part.type);
      default:
        throw new UnsupportedContent((part satisfies never as { type: string }).type);
    }
  }

  #add<P extends WrittenPart>(part: P): P {
    if (this.#parts.length >= OUTPUT_PARTS_MAX) throw tooLarge(`${OUTPUT_PARTS_MAX} parts`);
    this.#parts.push(part);
    return part;
  }

  #grow(text: string): void {
    if (text === "") return;
    this.#noteOutput();
    this.#characters += text.length;
    if (this.#characters > OUTPUT_CHARACTERS_MAX) throw tooLarge(`${OUTPUT_CHARACTERS_MAX} characters`);
  }

  #noteOutput(): void {
    if (this.#hasOutput) return;
    this.#hasOutput = true;
    this.#options.onFirstOutput();
  }

  #openText(id: string, kind: WrittenText["kind"]): WrittenText {
    const part = this.#add<WrittenText>({ kind, text: "", metadata: undefined });
    this.#texts.set(id, part);
    return part;
  }

  #writeText(id: string, kind: WrittenText["kind"], delta: string, metadata: SharedV4ProviderMetadata | undefined): void {
    const part = this.#texts.get(id) ?? this.#openText(id, kind);
    this.#grow(delta);
    part.text += delta;
    // The latest is the whole: providers send a signature with the last piece.
    part.metadata = metadata ?? part.metadata;
    this.#deltas.write(part.kind, delta);
  }

  #openCall(id: string, wireName: string, isText: boolean): WrittenCall {
    this.#noteOutput();
    const tool = this.#options.toolNames.fromWire(wireName);
    const part = this.#add<WrittenCall>({ kind: "call", providerCallId: id, tool, arguments: "", metadata: undefined });
    this.#calls.set(id, { part, isText });
    return part;
  }

  #writeArguments(id: string, delta: string): void {
    const call = this.#calls.get(id);
    if (!call) throw new StreamBroken(`it sent arguments of a tool call (${id}) that it had not begun`);
    this.#grow(delta);
    // Raw text is not what the call's arguments will be; they come whole with the call.
    if (call.isText) return;
    call.part.arguments += delta;
    this.#deltas.writeArguments(call.part, delta);
  }

  #completeCall(part: Extract<LanguageModelV4StreamPart, { type: "tool-call" }>): void {
    const open = this.#calls.get(part.toolCallId)?.part ?? this.#openCall(part.toolCallId, part.toolName, false);
    // A second call under the same id is another call.
    this.#calls.delete(part.toolCallId);
    if (open.arguments === "" && part.input !== "") {
      this.#grow(part.input);
      open.arguments = part.input;
      this.#deltas.writeArguments(open, part.input);
    }
    open.metadata = part.providerMetadata ?? open.metadata;
  }

  #finish(part: Extract<LanguageModelV4StreamPart, { type: "finish" }>): void {
    this.#deltas.end();
    this.usage = part.usage;
    this.metadata = part.providerMetadata;
    this.finishReason = part.finishReason;
    if (part.finishReason.unified === "error") throw new StreamBroken(`it ended with finish reason "${part.finishReason.raw ?? "error"}"`);
    if (part.finishReason.unified === "interrupted") throw new StreamBroken("it ended without a finish reason");
  }
}

function tooLarge(bound: string): ForgeError {
  return new ForgeError(
    ErrorCode.PROVIDER_ERROR,
    `The model's answer is larger than ${bound}; it was stopped. Ask for less at once, or set max_output_tokens.`,
    {
      reason: "OUTPUT_TOO_LARGE",
      origin: "worker",
    },
  );
}
