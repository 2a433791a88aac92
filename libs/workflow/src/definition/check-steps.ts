import { parseStatePath, type Reference, references, templateReferences } from "@forge/domain";
import type { InputDeclaration } from "@forge/protocol/workflow";
import type { YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import type { StepDraft } from "./step-draft.ts";

/** What a step reads: a path from `inputs` or `steps` on, each part with its offset in the file; `exact` where a missing key is sure to fail. */
interface Read {
  readonly path: readonly { readonly name: string; readonly offset: number }[];
  readonly exact: boolean;
}

/** The roots of the state, and the names beside it that a template sees. */
const STATE_ROOTS = ["inputs", "steps", "runtime"];
const TEMPLATE_NAMES = [...STATE_ROOTS, "state"];

/** Checks what steps say of each other: ids, branch targets, what they read. Gives the inputs that are read and not declared, where none are declared at all. */
export class StepChecks {
  readonly #reader: YamlReader;
  readonly #steps: readonly StepDraft[];
  readonly #indexes = new Map<string, number>();
  readonly #declared: ReadonlySet<string> | undefined;
  /** By name, whether a step is sure to fail without it. */
  readonly inferred = new Map<string, boolean>();

  constructor(reader: YamlReader, steps: readonly StepDraft[], declared: readonly InputDeclaration[] | undefined) {
    this.#reader = reader;
    this.#steps = steps;
    this.#declared = declared && new Set(declared.map(({ name }) => name));
    for (const [index, { id }] of steps.entries()) {
      if (this.#indexes.has(id.text)) reader.problems.add(id.offset, `duplicate step id \`${id.text}\``);
      else this.#indexes.set(id.text, index);
    }
  }

  run(): void {
    for (const [index, step] of this.#steps.entries()) {
      for (const target of [...step.next.rules.map(({ goto }) => goto), step.next.default]) this.#checkTarget(target);
      for (const read of this.#readsOf(step)) this.#checkRead(read, step, index);
    }
  }

  #checkTarget(target: YamlText | undefined): void {
    if (target === undefined || target.text === "end" || this.#indexes.has(target.text)) return;
    this.#reader.problems.addUnknown(target.offset, "step in next", target.text, [...this.#indexes.keys(), "end"]);
  }

  #readsOf(step: StepDraft): Read[] {
    const reads: Read[] = [];
    for (const { source, written, template } of step.inputs) {
      if (written !== undefined && source.case === "path") reads.push({ path: this.#segments(written, pathReference(written.text)), exact: true });
      for (const { reference, exact } of template === undefined ? [] : templateReferences(template)) {
        const read = this.#fromScope(this.#segments(written as YamlText, reference), exact, TEMPLATE_NAMES);
        if (read !== undefined) reads.push(read);
      }
    }
    for (const { when, expression } of step.next.rules) {
      for (const reference of references(expression)) {
        const read = this.#fromScope(this.#segments(when, reference), false, ["state"]);
        if (read !== undefined) reads.push(read);
      }
    }
    return reads;
  }

  #segments(written: YamlText, reference: Reference): Read["path"] {
    return reference.map(({ name, position }) => ({ name, offset: this.#reader.source.offsetInScalar(written.node, position) }));
  }

  /** A read with its scope's name checked and `state` taken off. */
  #fromScope(path: Read["path"], exact: boolean, names: readonly string[]): Read | undefined {
    const [root, ...rest] = path;
    if (root === undefined) return undefined;
    if (!names.includes(root.name)) {
      const hint = STATE_ROOTS.includes(root.name) ? `; write \`state.${root.name}\`` : "";
      if (hint === "") this.#reader.problems.addUnknown(root.offset, "name", root.name, names);
      else this.#reader.problems.add(root.offset, `unknown name \`${root.name}\`${hint}`);
      return undefined;
    }
    if (root.name !== "state") return { path, exact };
    const [area] = rest;
    if (area !== undefined && !STATE_ROOTS.includes(area.name)) this.#reader.problems.addUnknown(area.offset, "part of the state", area.name, STATE_ROOTS);
    return { path: rest, exact };
  }

  #checkRead({ path: [root, first, second], exact }: Read, step: StepDraft, index: number): void {
    if (first === undefined) return;
    if (root?.name === "inputs") this.#checkInput(first, exact);
    if (root?.name !== "steps") return;
    const source = this.#indexes.get(first.name);
    if (source === undefined) {
      this.#reader.problems.addUnknown(first.offset, "step", first.name, this.#indexes.keys());
      return;
    }
    if (exact && source >= index) {
      const relation = source === index ? "reads its own output" : `reads step ${first.name}, which comes later`;
      this.#reader.problems.add(first.offset, `step ${step.id.text} ${relation}; expected an earlier step`);
    }
    const outputs = (this.#steps[source] as StepDraft).outputs.map(({ text }) => text);
    if (second !== undefined && outputs.length > 0 && !outputs.includes(second.name)) {
      this.#reader.problems.addUnknown(second.offset, `output of step ${first.name}`, second.name, outputs);
    }
  }

  #checkInput({ name, offset }: { name: string; offset: number }, exact: boolean): void {
    if (this.#declared === undefined) this.inferred.set(name, exact || this.inferred.get(name) === true);
    else if (!this.#declared.has(name)) this.#reader.problems.addUnknown(offset, "input", name, this.#declared);
  }
}

function pathReference(text: string): Reference {
  let position = 0;
  return (parseStatePath(text) ?? []).map((name) => {
    const segment = { name, position };
    position += name.length + 1;
    return segment;
  });
}
