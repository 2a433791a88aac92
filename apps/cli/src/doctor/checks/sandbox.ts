import { type Found, ok, warning } from "../finding.ts";

/** What of the sandbox for commands works on this machine, by trying it. */
export async function checkSandbox(): Promise<Found> {
  const { probeSandbox } = await import("@forge/host");
  const { level, missing } = await probeSandbox();
  if (level === "enforced") return ok("is enforced: commands see the workspace and nothing else of yours");
  const what = `without ${missing.join(", ")}`;
  if (level === "partial")
    return warning(`works in part: ${what}`, "commands are kept from the rest; install bubblewrap 0.8 or newer, and allow user namespaces, for all of it");
  return warning(`there is none here: ${what}`, "commands of agents run with your own rights, once you allow them; on Linux install bubblewrap");
}
