import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { boundedFetch } from "./bounded-fetch.ts";
import { ExactArguments } from "./exact-arguments.ts";

export interface ExactModelOptions {
  /** The package's model, sending through this `fetch`. */
  readonly create: (fetch: typeof globalThis.fetch) => LanguageModelV4;
  /** What is done with an answer before the package reads it. */
  readonly onResponse?: (response: Response) => Response;
  /** Whether a part of the package's stream is a note of its own, nothing that the model wrote. */
  readonly isNote?: (part: LanguageModelV4StreamPart) => boolean;
}

function withoutNotes(isNote: (part: LanguageModelV4StreamPart) => boolean): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  return new TransformStream({
    transform(part, controller) {
      if (!isNote(part)) controller.enqueue(part);
    },
  });
}

/** A package's model that sends tool-call arguments back exactly as they were written. */
export function createExactModel({ create, onResponse = (response) => response, isNote = () => false }: ExactModelOptions): LanguageModelV4 {
  const model = create(boundedFetch);
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: {},
    doGenerate: (call) => model.doGenerate(call),
    async doStream(call) {
      const exact = new ExactArguments();
      const sending = create(async (input, init) => {
        const body = typeof init?.body === "string" ? exact.restore(init.body) : init?.body;
        return onResponse(await boundedFetch(input, { ...init, body }));
      });
      const result = await sending.doStream({ ...call, prompt: exact.hide(call.prompt) });
      return { ...result, stream: result.stream.pipeThrough(withoutNotes(isNote)) };
    },
  };
}
