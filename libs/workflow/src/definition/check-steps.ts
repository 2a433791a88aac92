import { parseStatePath, parseTemplate, type Reference, references, templateReferences } from "@forge/domain";
import type { InputDeclaration } from "@forge/protocol/workflow";
import type { YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import type { StepOrder } from "./check-graph.ts";
import { promptsOf } from "./check-prompts.ts";
import { itemNames, type SourceDraft, type StepDraft } from "./step-draft.ts";

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
  readonly #order: StepOrder;
  /** By name, whether a step is sure to fail without it. */
  readonly inferred = new Map<string, boolean>();

  constructor(reader: YamlReader, steps: readonly StepDraft[], declared: readonly InputDeclaration[] | undefined, order: StepOrder) {
    this.#reader = reader;
    this.#steps = steps;
    this.#order = order;
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
      this.#checkPromptOrder(step);
    }
  }

  #checkTarget(target: YamlText | undefined): void {
    if (target === undefined || target.text === "end" || this.#indexes.has(target.text)) return;
    this.#reader.problems.addUnknown(target.offset, "step in next", target.text, [...this.#indexes.keys(), "end"]);
  }

  #readsOf(step: StepDraft): Read[] {
    const { kind, forEach, when } = step;
    const reads = step.inputs.flatMap((input) => this.#readsOfSource(input, itemNames(forEach)));
    if (forEach !== undefined) reads.push(...this.#readsOfSource(forEach.items, []));
    if (kind.type === "wait" && kind.wait.kind === "until") reads.push(...this.#readsOfSource(kind.wait.until, []));
    if (kind.type === "wait" && kind.wait.kind === "approval") {
      const { question, template } = kind.wait;
      reads.push(...this.#readsOfSource({ source: { case: "template", value: question.text }, written: question, template }, []));
    }
    for (const { when: written, expression } of [...step.next.rules, ...(when === undefined ? [] : [when])]) {
      for (const reference of references(expression)) {
        const read = this.#fromScope(this.#segments(written, reference), false, ["state"]);
        if (read !== undefined) reads.push(read);
      }
    }
    return reads;
  }

  /** What a value is made of; `own` are names beside the state, which bring what they bring. */
  #readsOfSource({ source, written, template }: SourceDraft, own: readonly string[]): Read[] {
    if (written === undefined) return [];
    if (source.case === "path") {
      const reference = pathReference(written.text);
      return reference.length === 0 ? [] : [{ path: this.#segments(written, reference), exact: true }];
    }
    const reads: Read[] = [];
    for (const { reference, exact } of template === undefined ? [] : templateReferences(template)) {
      if (own.includes(reference[0]?.name ?? "")) continue;
      const read = this.#fromScope(this.#segments(written, reference), exact, [...TEMPLATE_NAMES, ...own]);
      if (read !== undefined) reads.push(read);
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
    this.#checkOrder(first, exact, step, index, source);
    const { outputs: declared, forEach } = this.#steps[source] as StepDraft;
    const outputs = declared.map(({ text }) => text);
    if (second === undefined) return;
    if (forEach !== undefined) {
      if (!/^\d+$/.test(second.name))
        this.#reader.problems.add(
          second.offset,
          `step ${first.name} has a for_each, so its output is a list; expected an index, for example steps.${first.name}.0`,
        );
    } else if (outputs.length > 0 && !outputs.includes(second.name)) {
      this.#reader.problems.addUnknown(second.offset, `output of step ${first.name}`, second.name, outputs);
    }
  }

  /** In a sequence, a step that comes later may have run by way of a branch, but only what is read in any case can be told to fail; in a graph, nothing but needs says what has ended. */
  #checkOrder(at: { readonly name: string; readonly offset: number }, exact: boolean, step: StepDraft, index: number, source: number): void {
    const order = this.#order;
    if (order.kind === "sequence" && exact && source >= index) {
      const relation = source === index ? "reads its own output" : `reads step ${at.name}, which comes later`;
      this.#reader.problems.add(at.offset, `step ${step.id.text} ${relation}; expected an earlier step`);
    }
    if (order.kind !== "graph" || order.ancestors.has(step.id.text, at.name)) return;
    const relation =
      source === index ? "reads its own output; expected a step that it needs" : `reads step ${at.name}, which it does not need; add it to needs`;
    this.#reader.problems.add(at.offset, `step ${step.id.text} ${relation}`);
  }

  /** An agent's prompt may look into the state by itself. */
  #checkPromptOrder(step: StepDraft): void {
    const { kind, id } = step;
    if (this.#order.kind !== "graph" || kind.type !== "agent" || kind.agent === undefined) return;
    const { agent } = kind.agent;
    const references = promptsOf(kind.agent).flatMap((text) => {
      const prompt = parseTemplate(text);
      return prompt.ok ? templateReferences(prompt.value) : [];
    });
    for (const { reference } of references) {
      const [root, area, read] = reference.map(({ name }) => name);
      if (root !== "state" || area !== "steps" || read === undefined || !this.#indexes.has(read) || this.#order.ancestors.has(id.text, read)) continue;
      this.#reader.problems.add(
        kind.name.offset,
        `the prompt of agent ${agent.agentId} reads step ${read}, which step ${id.text} does not need; add it to needs`,
      );
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
