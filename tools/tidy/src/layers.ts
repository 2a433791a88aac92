/**
 * Which packages each package may import, as architecture says: protocol <- core <- engine, protocol <- domain <- engine <- {store-postgres, rpc} <- host <- apps,
 * protocol <- client <- {cli, workspace <- cli}, protocol <- context <- {cli, host}, {protocol, core} <- worker <- {agent, tools} <- host, {agent, workflow} -> domain, {client, worker, agent, workflow} <- sdk <- cli. A name stands for the package with all its subpaths,
 * `name/subpath` for that one only, `name/index` for the package's main entry. Adapters (store-postgres, rpc, agent, tools) never import each other.
 */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  core: ["protocol/index", "protocol/common"],
  domain: ["protocol"],
  engine: ["protocol", "core", "domain"],
  "store-postgres": ["protocol", "core", "domain", "engine"],
  rpc: ["protocol", "core", "domain", "engine"],
  client: ["protocol"],
  workspace: ["protocol", "client"],
  context: ["protocol"],
  worker: ["protocol", "core"],
  agent: ["protocol", "domain", "worker"],
  tools: ["protocol", "worker"],
  workflow: ["protocol", "domain"],
  sdk: ["protocol", "core", "client", "worker", "agent", "workflow"],
  host: ["protocol", "core", "domain", "engine", "store-postgres", "rpc", "client", "worker", "agent", "tools", "workflow", "context"],
  cli: ["protocol", "client", "workflow", "workspace", "context", "host", "sdk"],
  "control-plane": ["protocol", "host"],
  executor: ["protocol", "host"],
};

/** The scope of this repository's own packages. */
export const SCOPE = "@forge/";
