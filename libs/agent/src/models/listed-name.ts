import { familyOf, parseModelName } from "../model-name.ts";

/** A model's name as the table of models knows it. */
export function listedName(model: string): string {
  const { provider, modelId } = parseModelName(model);
  return `${familyOf(provider)}/${modelId}`;
}
