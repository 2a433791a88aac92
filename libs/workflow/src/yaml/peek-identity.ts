import { isMap, isScalar } from "yaml";
import { normalizeVersion } from "../definition/version.ts";
import { YamlSource } from "./yaml-source.ts";

/** The id and version in a file, whatever else is wrong with it; what can't be told is undefined. */
export function peekIdentity(text: string, key: "workflow" | "agent"): { readonly id: string | undefined; readonly version: string | undefined } {
  const { root } = new YamlSource(text, "");
  const block = isMap(root) ? root.get(key, true) : undefined;
  const read = (name: string): string | undefined => {
    const node = isMap(block) ? block.get(name, true) : undefined;
    return isScalar(node) && (typeof node.value === "string" || typeof node.value === "number") ? (node.source ?? String(node.value)) : undefined;
  };
  const version = read("version");
  return { id: read("id"), version: version === undefined ? undefined : normalizeVersion(version) };
}
