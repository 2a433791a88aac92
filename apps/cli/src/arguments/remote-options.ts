import { Option } from "commander";

/** Names another server than the project's own. */
export function urlOption(): Option {
  return new Option("--url <url>", "a control plane to talk to in place of the project's own server (default: FORGE_URL); FORGE_TOKEN holds the token");
}

/** The namespace that is meant in it. */
export function namespaceOption(): Option {
  return new Option("--namespace <name>", "in that control plane (default: FORGE_NAMESPACE, else the token's first)");
}
