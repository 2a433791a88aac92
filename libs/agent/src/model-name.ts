import { ForgeError } from "@forge/protocol";

/** `provider/model` taken apart at the first slash; the model's own id may hold more of them. Throws validation. */
export function parseModelName(model: string): { provider: string; modelId: string } {
  const slash = model.indexOf("/");
  if (slash <= 0 || slash === model.length - 1) {
    throw ForgeError.validation("model", `"${model}" names no model: write provider/model, for example demo/chat.`, { origin: "worker" });
  }
  return { provider: model.slice(0, slash), modelId: model.slice(slash + 1) };
}
