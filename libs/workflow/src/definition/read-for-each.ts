import { itemNameProblem } from "@forge/domain";
import { OnError } from "@forge/protocol/workflow";
import { isMap, isScalar, isSeq, type Node } from "yaml";
import { clip } from "../yaml/problems.ts";
import type { YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { NAME_LENGTH_MAX } from "./names.ts";
import { readSource } from "./read-source.ts";
import type { ForEachDraft, SourceDraft } from "./step-draft.ts";

const ITEMS_MAX = 10_000;
const CONCURRENCY_MAX = 1000;

/** A step's `for_each`: the list by path, as it is, or by template; or a mapping with `items` and how they are executed. */
export function readForEach(reader: YamlReader, node: Node): ForEachDraft | undefined {
  if (!isMap(reader.resolve(node))) {
    const items = readItems(reader, node);
    return items && { items, as: "", concurrency: 0, onError: OnError.UNSPECIFIED };
  }
  const entries = reader.mapping(node, "for_each");
  if (entries === undefined) return undefined;
  reader.checkKeys(entries, "for_each", ["items", "as", "concurrency", "on_error"]);
  const [list, as, concurrency, onError] = [entries.get("items"), entries.get("as"), entries.get("concurrency"), entries.get("on_error")];
  if (list === undefined) reader.problems.add(startOf(node), "for_each has no items; expected a list, a path into the state, or a template");
  const items = list && readItems(reader, list.value);
  const draft = {
    as: (as && readName(reader, as.value)) ?? "",
    concurrency: (concurrency && reader.number(concurrency.value, "for_each.concurrency", 1, CONCURRENCY_MAX, true)) ?? 0,
    onError: readOnError(onError && reader.choice(onError.value, "for_each.on_error", ["fail_fast", "continue"])),
  };
  return items && { items, ...draft };
}

function readOnError(written: "fail_fast" | "continue" | undefined): OnError {
  if (written === undefined) return OnError.UNSPECIFIED;
  return written === "continue" ? OnError.CONTINUE : OnError.FAIL_FAST;
}

function readItems(reader: YamlReader, node: Node): SourceDraft | undefined {
  const resolved = reader.resolve(node);
  if (isSeq(resolved) && resolved.items.length > ITEMS_MAX) {
    reader.problems.add(startOf(node), `for_each has ${resolved.items.length} items; at most ${ITEMS_MAX} are allowed`);
    return undefined;
  }
  const items = readSource(reader, "for_each", node);
  if (items === undefined || items.source.case !== "literalJson" || isSeq(resolved)) return items;
  const found = isScalar(resolved) && typeof resolved.value === "string" ? ` is the text \`${clip(resolved.value)}\`` : " is no list";
  reader.problems.add(startOf(node), `for_each${found}; expected a list, a path such as inputs.files or steps.find.files, or a template`);
  return undefined;
}

function readName(reader: YamlReader, node: Node): string | undefined {
  const name = reader.text(node, "for_each.as", NAME_LENGTH_MAX);
  const problem = name && itemNameProblem(name.text);
  if (name !== undefined && problem !== undefined) reader.problems.add(name.offset, `for_each.as \`${clip(name.text)}\`: ${problem}`);
  return problem === undefined ? name?.text : undefined;
}
