import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { createConnectClient } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { askServer } from "../../server/ask-server.ts";
import { type Found, ok, problem, warning } from "../finding.ts";
import type { Subject } from "../subject.ts";

const TOKEN = /^forge_[A-Za-z0-9_-]{43}$/;
const TOKEN_FILES = ["token", "worker-token"];
/** Of the providers that there are; a project may name another variable for its key. */
const KEYS = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"];

/** The tokens that a server keeps beside its data. */
export async function checkTokenFiles({ dataDirectory }: Subject): Promise<readonly Found[]> {
  const found = await Promise.all(TOKEN_FILES.map((name) => checkTokenFile(path.join(dataDirectory, name))));
  const there = found.filter((each) => each !== undefined);
  return there.length === 0 ? [ok("no tokens are kept yet: the first start makes them")] : there;
}

async function checkTokenFile(file: string): Promise<Found | undefined> {
  const found = await stat(file).catch((error: unknown) => error as NodeJS.ErrnoException);
  if (found instanceof Error) {
    if (found.code === "ENOENT" || found.code === "ENOTDIR") return undefined;
    return problem(`${file} can't be looked at: ${found.message}`, "make it readable for you and nobody else");
  }
  const mode = found.mode & 0o777;
  if ((mode & 0o077) !== 0) return problem(`others may read ${file} (mode ${mode.toString(8)}): whoever has it may do everything here`, `chmod 600 ${file}`);
  const text = await readFile(file, "utf8");
  if (!TOKEN.test(text.trim())) return warning(`${file} holds no token`, "end the server with npx forge down: the next start makes a new one");
  return ok(`${path.basename(file)}, for its owner only`);
}

/** Which keys of providers are set, by name. */
export async function checkProviderKeys({ environment, settings }: Subject): Promise<Found> {
  const named = settings?.project.config.llm.providers.openai?.api_key_env;
  const names = [...new Set([...KEYS, ...(named === undefined ? [] : [named])])];
  const set = names.filter((name) => (environment[name] ?? "") !== "");
  if (set.length > 0) return ok(`${set.join(" and ")} ${set.length === 1 ? "is" : "are"} set`);
  return ok(`${names.join(" and ")} ${names.length === 1 ? "is" : "are"} not set: demo/... and ollama/... models work without`);
}

/** The control plane that --url or FORGE_URL names, and what FORGE_TOKEN may do there. */
export async function checkRemote({ remote, environment }: Subject): Promise<Found> {
  if (remote === undefined) {
    if ((environment.FORGE_TOKEN ?? "") !== "")
      return warning("FORGE_TOKEN is set without FORGE_URL, and so is not used", "set FORGE_URL as well, or unset both");
    return ok("commands talk to the project's own server");
  }
  const { url } = remote;
  const client = createConnectClient(remote);
  try {
    const failure = await askServer(client);
    if (failure !== undefined) return problem(`${url} does not answer (${failure.message})`, "look whether Forge runs there, and whether the address is right");
    return ok(`${url} answers; FORGE_TOKEN has the role ${await roleOf(client)}`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return problem(`${url} refuses FORGE_TOKEN: ${message}`, "ask an admin there for a token (forge token add)");
  } finally {
    await client.close();
  }
}

/** Only an admin lists tokens; whoever is none is told what he is. */
async function roleOf(client: ReturnType<typeof createConnectClient>): Promise<string> {
  try {
    await client.token.listTokens({ pageSize: 1 });
    return "admin";
  } catch (error) {
    if (error instanceof ForgeError && error.code === ErrorCode.PERMISSION_DENIED) return error.detail.metadata.role ?? "unknown";
    throw error;
  }
}
