import type { DemoTool } from "./conversation.ts";

type Property = Exclude<NonNullable<DemoTool["inputSchema"]["properties"]>[string], boolean>;

function propertiesOf(tool: DemoTool): [string, Property][] {
  return Object.entries(tool.inputSchema.properties ?? {}).filter((entry): entry is [string, Property] => typeof entry[1] === "object");
}

function isFreeText([, property]: [string, Property]): boolean {
  return property.type === "string" && property.enum === undefined;
}

/** What a property gets that must be there and that nobody spoke of. */
function filler(property: Property, verb: string): unknown {
  if (property.enum) return property.enum.includes(verb) ? verb : property.enum[0];
  switch (property.type) {
    case "string":
      return ".";
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return false;
    case "array":
      return [];
    default:
      return {};
  }
}

/**
 * Arguments for a tool that the demo model knows nothing of but its schema: the value goes into the first text property, one that is required before one
 * that is not; choices that are required take the verb where they offer it.
 */
export function argumentsFor(tool: DemoTool, value: string, verb = ""): string {
  const properties = propertiesOf(tool);
  const required = tool.inputSchema.required ?? [];
  const texts = properties.filter(isFreeText);
  const main = (texts.find(([name]) => required.includes(name)) ?? texts[0])?.[0];
  const input = properties
    .filter(([name]) => name === main || required.includes(name))
    .map(([name, property]) => [name, name === main ? value : filler(property, verb)] as const);
  return JSON.stringify(Object.fromEntries(input));
}
