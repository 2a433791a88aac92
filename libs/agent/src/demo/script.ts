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
      /** The arguments, JSON text. */
      readonly input: string;
    };

/** A demo model: a function of the conversation alone. */
export type DemoModel = (conversation: DemoConversation) => readonly DemoStep[];
