/** Models of the demo provider, without its name. */
export const DEMO_MODELS = ["chat", "echo", "script", "triage"] as const;

/** `flaky-3` fails three times before it answers. */
export const FLAKY_MODEL = /^flaky-(\d{1,3})$/;

/** Whether the demo provider has a model, given with its provider: `demo/chat`. */
export function isDemoModel(model: string): boolean {
  const [provider, id = ""] = model.split(/\/(.*)/s);
  return provider === "demo" && (DEMO_MODELS.some((known) => known === id) || FLAKY_MODEL.test(id));
}
