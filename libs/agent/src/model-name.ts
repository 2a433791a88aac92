import { ForgeError } from "@forge/protocol";

/** `provider/model` taken apart at the first slash; the model's own id may hold more of them. Throws validation. */
export function parseModelName(model: string): { provider: string; modelId: string } {
  const slash = model.indexOf("/");
  if (slash <= 0 || slash === model.length - 1) {
    throw ForgeError.validation("model", `"${model}" names no model: write provider/model, for example demo/chat.`, { origin: "worker" });
  }
  return { provider: model.slice(0, slash), modelId: model.slice(slash + 1) };
}

/** Second names of providers. What a model wrote under one of its provider's names is its own under the other. */
const FAMILIES: ReadonlyMap<string, string> = new Map([["gemini", "google"]]);

/** The one name that a provider's models are known by: facts about them and the metadata of their answers. */
export function familyOf(provider: string): string {
  return FAMILIES.get(provider) ?? provider;
}
