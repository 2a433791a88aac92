import type { Expression, Template } from "@forge/domain";
import type { RetryPolicy } from "@forge/protocol/common";
import type { InputSource, OnError, WorkflowDefinition } from "@forge/protocol/workflow";
import type { LoadedAgent } from "../agent/agent-source.ts";
import type { YamlText } from "../yaml/yaml-reader.ts";

/** Where a value comes from, as it was read. */
export interface SourceDraft {
  readonly source: InputSource["kind"];
  /** The text as it was written, where the source is a path or a template. */
  readonly written: YamlText | undefined;
  /** Of a template. */
  readonly template: Template | undefined;
}

/** Where an input of a step comes from, as it was read. */
export interface InputDraft extends SourceDraft {
  readonly name: string;
  /** Where the name stands. */
  readonly offset: number;
}

/** A condition, parsed. */
export interface ConditionDraft {
  readonly when: YamlText;
  readonly expression: Expression;
}

/** A branch: its condition, parsed, and its target. */
export interface NextDraft extends ConditionDraft {
  readonly goto: YamlText;
}

/** A step's `next`. */
export interface NextDrafts {
  readonly rules: readonly NextDraft[];
  readonly default: YamlText | undefined;
}

/** What a step waits for, as it was read. */
export type WaitDraft =
  | { readonly kind: "duration"; readonly ms: number }
  | { readonly kind: "until"; readonly until: SourceDraft }
  | { readonly kind: "signal"; readonly name: YamlText }
  | { readonly kind: "approval"; readonly question: YamlText; readonly template: Template };

/** What a step does, as it was read. */
export type KindDraft =
  | { readonly type: "agent"; readonly name: YamlText; readonly agent: LoadedAgent | undefined }
  | { readonly type: "function"; readonly name: YamlText; readonly isNotIdempotent: boolean }
  | { readonly type: "tool"; readonly name: YamlText }
  | { readonly type: "wait"; readonly wait: WaitDraft }
  | { readonly type: "workflow"; readonly name: YamlText; readonly definition: WorkflowDefinition | undefined };

/** A list that a step is executed for, as it was read. */
export interface ForEachDraft {
  readonly items: SourceDraft;
  /** As it was written; empty: item. */
  readonly as: string;
  /** 0: as many as the run allows. */
  readonly concurrency: number;
  readonly onError: OnError;
}

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
  /** Where `next` stands; undefined where it does not. */
  readonly nextOffset: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly needs: readonly YamlText[];
  readonly when: ConditionDraft | undefined;
  readonly forEach: ForEachDraft | undefined;
  /** Empty: none. */
  readonly outputSchemaJson: string;
  readonly heartbeatTimeoutMs: number | undefined;
}

/** The names that a step's mappings see beside the state's: those of its item. */
export function itemNames(forEach: Pick<ForEachDraft, "as"> | undefined): readonly string[] {
  if (forEach === undefined) return [];
  const name = forEach.as || "item";
  return [name, `${name}_index`];
}
