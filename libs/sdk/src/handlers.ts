import { createModelHandlers } from "@forge/agent";
import type { TaskHandler } from "@forge/worker";
import { DEFINITION, type Definition, invalidDefinition } from "./definition.ts";
import { functionHandler } from "./function-handler.ts";
import { hookHandler } from "./hook-handler.ts";
import type { CallOptions } from "./perform.ts";
import { toolHandler } from "./tool-handler.ts";

/** Serves definitions as a worker's capabilities, in their order. Errors: validation, DEFINITION, where one is defined twice. */
export function createHandlers(definitions: readonly Definition[], options: CallOptions): TaskHandler[] {
  const seen = new Set<string>();
  return definitions.flatMap((definition) => {
    const name = `${definition[DEFINITION]} ${definition.name}`;
    if (seen.has(name)) throw invalidDefinition("name", `${name} is defined twice`);
    seen.add(name);
    switch (definition[DEFINITION]) {
      case "tool":
        return [toolHandler(definition, options)];
      case "function":
        return [functionHandler(definition, options)];
      case "hook":
        return [hookHandler(definition, options)];
      case "provider":
        return createModelHandlers({ providers: [definition.provider], prices: definition.prices });
    }
  });
}
