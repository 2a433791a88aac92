import { type Capability, CapabilityKind } from "@forge/protocol/worker";

/** The names of what a worker serves, by kind. */
export interface ServedNames {
  readonly tools: readonly string[];
  readonly functions: readonly string[];
  readonly models: readonly string[];
  readonly hooks: readonly string[];
}

export function servedNames(capabilities: readonly Capability[]): ServedNames {
  const of = (wanted: CapabilityKind): string[] => capabilities.filter(({ kind }) => kind === wanted).map(({ name }) => name);
  return { tools: of(CapabilityKind.TOOL), functions: of(CapabilityKind.FUNCTION), models: of(CapabilityKind.MODEL), hooks: of(CapabilityKind.HOOK) };
}
