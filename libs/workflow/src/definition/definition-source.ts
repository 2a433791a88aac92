import type { ForgeError } from "@forge/protocol";
import type { LoadedWorkflow } from "./loaded-workflow.ts";

/** What became of looking for a workflow that a step names. */
export type WorkflowLookup =
  | { readonly kind: "found"; readonly workflow: LoadedWorkflow }
  /** Its file is there, and something is wrong with it. */
  | { readonly kind: "invalid"; readonly error: ForgeError }
  /** There is none, or it can't be used here: why. */
  | { readonly kind: "missing"; readonly message: string }
  /** Its file has not been read yet; what is read now is read again once it has. */
  | { readonly kind: "pending" };

/** What became of looking for a file's text. */
export type TextLookup =
  | { readonly kind: "found"; readonly text: string }
  | { readonly kind: "missing"; readonly message: string }
  | { readonly kind: "pending" };

/** Where one workflow's file finds what it names: other workflows, and files of the project. */
export interface DefinitionSource {
  /** By id, id@version or path. */
  workflow(reference: string): WorkflowLookup;
  /** By path. */
  text(path: string): TextLookup;
}

/** Of a text that belongs to no project. */
export const noSource: DefinitionSource = {
  workflow: () => ({ kind: "missing", message: "a workflow outside of a project can name no other" }),
  text: () => ({ kind: "missing", message: "a workflow outside of a project can name no file" }),
};
