import { APICallError } from "@ai-sdk/provider";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { ModelCall, ModelProvider } from "../provider.ts";
import { createScrubber } from "../providers/scrub.ts";
import { chat } from "./chat.ts";
import { echo } from "./echo.ts";
import { DEMO_MODELS, FLAKY_MODEL } from "./known-models.ts";
import { createDemoLanguageModel } from "./language-model.ts";
import type { DemoModel } from "./script.ts";
import { scripted } from "./scripted.ts";
import { triage } from "./triage.ts";

/** Fast, and yet seen to stream. */
const PIECE_DELAY_MS = 4;

const MODELS: Readonly<Record<(typeof DEMO_MODELS)[number], DemoModel>> = { chat, echo, script: scripted, triage };

function flaky(failures: number, call: ModelCall): DemoModel {
  return (conversation) => {
    if (call.failedAttempts >= failures) return [{ kind: "text", text: `This is attempt ${call.failedAttempts + 1}. You said: ${conversation.lastUserText}` }];
    throw new APICallError({
      message: `This model fails ${failures} times; this is attempt ${call.failedAttempts + 1}.`,
      url: "demo:",
      requestBodyValues: {},
      statusCode: 503,
      responseHeaders: { "retry-after-ms": "1" },
    });
  };
}

function findModel(modelId: string, call: ModelCall): DemoModel {
  const name = DEMO_MODELS.find((known) => known === modelId);
  if (name) return MODELS[name];
  const failures = FLAKY_MODEL.exec(modelId)?.[1];
  if (failures !== undefined) return flaky(Number(failures), call);
  const known = [...DEMO_MODELS, "flaky-<n>"].map((each) => `demo/${each}`).join(", ");
  throw new ForgeError(ErrorCode.NOT_FOUND, `There is no model demo/${modelId}. Known are: ${known}.`, { reason: "MODEL_NOT_FOUND", origin: "worker" });
}

/** Models in code: no key, no network, the same answer to the same conversation. */
export function createDemoProvider({ pieceDelayMs = PIECE_DELAY_MS }: { readonly pieceDelayMs?: number } = {}): ModelProvider {
  return {
    name: "demo",
    versions: {},
    listPrices: true,
    inProcess: true,
    dialect: { inputs: [], structuredOutput: "always" },
    languageModel: (modelId, call) => createDemoLanguageModel({ modelId, model: findModel(modelId, call), pieceDelayMs }),
    scrub: createScrubber([]),
  };
}
