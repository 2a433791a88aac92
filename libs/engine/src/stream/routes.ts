import { type Capability, CapabilityKind } from "@forge/protocol/worker";

/** The route that a task of a capability waits on: its queue, and who could do it. Models are routed by provider. */
export function routeOf(queue: string, capability: string): string {
  if (!capability.startsWith("model:")) return `${queue} ${capability}`;
  const slash = capability.indexOf("/");
  return `${queue} ${slash === -1 ? capability : capability.slice(0, slash)}`;
}

const PREFIX: Readonly<Partial<Record<CapabilityKind, string>>> = {
  [CapabilityKind.MODEL]: "model:",
  [CapabilityKind.TOOL]: "tool:",
  [CapabilityKind.FUNCTION]: "function:",
  [CapabilityKind.HOOK]: "hook:",
  [CapabilityKind.WORKSPACE]: "workspace:",
};

/** A worker's capability as tasks name it; a model capability is `provider/*`. */
export function capabilityName(capability: Capability): string | undefined {
  const prefix = PREFIX[capability.kind];
  return prefix === undefined ? undefined : `${prefix}${capability.name}`;
}
