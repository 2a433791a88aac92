import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";
import type { DemoConversation } from "./conversation.ts";

/** What a demo model says next. */
export type DemoStep =
  | {
      readonly kind: "text" | "reasoning";
      readonly text: string;
      /** How much slower than usual its pieces come; 0: all at once, without a delay. Absent: 1. */
      readonly pace?: number;
    }
  | {
      readonly kind: "call";
      /** The tool's name as in the catalogue that the model was given. */
      readonly tool: string;
      /** The arguments, JSON text; a model that misbehaves writes others. */
      readonly input: string;
      /** The provider's id of the call; absent: one of its own. */
      readonly id?: string;
    }
  | {
      /** The last: why it stops. */
      readonly kind: "finish";
      readonly reason: LanguageModelV4FinishReason["unified"];
    }
  | {
      /** The last: the provider fails, with this HTTP status. */
      readonly kind: "fail";
      readonly status: number;
      readonly message: string;
      readonly retryAfterMs?: number;
    };

/** A demo model: a function of the conversation alone. */
export type DemoModel = (conversation: DemoConversation) => readonly DemoStep[];
