import type { Template } from "@forge/domain";
import type { RetryPolicy } from "@forge/protocol/common";
import type { AgentStep, InputSource } from "@forge/protocol/workflow";
import type { YamlText } from "../yaml/yaml-reader.ts";
import type { NextDrafts } from "./read-next.ts";

/** Where an input of a step comes from, as it was read. */
export interface InputDraft {
  readonly name: string;
  readonly source: InputSource["kind"];
  /** The text as it was written, where the source is a path or a template. */
  readonly written: YamlText | undefined;
  /** Of a template. */
  readonly template: Template | undefined;
}

/** What a step does, as it was read. */
export type KindDraft =
  | { readonly type: "agent"; readonly name: YamlText; readonly agent: AgentStep | undefined }
  | { readonly type: "function"; readonly name: YamlText; readonly isNotIdempotent: boolean }
  | { readonly type: "tool"; readonly name: YamlText };

/** A step as it was read, before what it says of other steps and inputs is checked. */
export interface StepDraft {
  readonly id: YamlText;
  readonly kind: KindDraft;
  /** By mapping; empty with a contract. */
  readonly inputs: readonly InputDraft[];
  /** The names of a contract list. */
  readonly contract: readonly YamlText[];
  readonly outputs: readonly YamlText[];
  readonly retry: RetryPolicy | undefined;
  readonly next: NextDrafts;
  readonly timeoutMs: number | undefined;
}
