import { type Found, ok, problem, warning } from "../finding.ts";
import type { Subject } from "../subject.ts";

/** Whether the providers that have a key take it. Asks over the network, and so only where somebody said so. */
export async function checkProviders({ online, settings, environment }: Subject, signal: AbortSignal): Promise<readonly Found[]> {
  if (!online) return [ok("are not asked whether they take their keys: forge doctor --online asks them")];
  const { createProviderRegistry } = await import("@forge/host");
  const registry = createProviderRegistry({ env: settings?.environment ?? environment, config: settings?.providers });
  const usable = registry.check().filter(({ isAvailable }) => isAvailable);
  const checked = await Promise.all(usable.map(({ name }) => registry.checkCredentials(name, { signal })));
  return checked.map(({ provider, result, message }) => {
    if (result === "ok") return ok(`${provider} answers`);
    if (result === "refused") return problem(message, "no call of it will work until then");
    return warning(message || `${provider} can't be asked`, "it is needed by those who use its models only");
  });
}
