import { readFile } from "node:fs/promises";
import path from "node:path";
import { trustOf } from "../../agent/workspace-trust.ts";
import { type Found, ok, warning } from "../finding.ts";
import type { Subject } from "../subject.ts";

/** Whether what the workspace brings may run. */
export async function checkTrust({ environment, root }: Subject): Promise<Found> {
  const { state, executes, changed } = await (await trustOf(environment)).readTrust(root);
  if (executes.length === 0) return ok("the workspace brings nothing that would run");
  if (state === "trusted") return ok(`the workspace is trusted, with ${executes.length} files that run`);
  if (state === "changed")
    return warning(
      `what the workspace runs has changed since it was trusted: ${changed.slice(0, 5).join(", ")}`,
      "look at forge trust --show, then trust it with forge trust",
    );
  return warning(`the workspace is not trusted: ${executes.length} files of it are not run`, "look at forge trust --show, then trust it with forge trust");
}

/** The MCP servers that the workspace names; none is started. */
export async function checkMcpServers({ root }: Subject): Promise<readonly Found[]> {
  const text = await readFile(path.join(root, ".mcp.json"), "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return [ok("the workspace names none")];
  const { parseMcpConfig } = await import("@forge/host");
  const { servers, problems } = parseMcpConfig(text, ".mcp.json");
  const found = problems.map(({ server, message }) =>
    warning(`${server === "" ? "" : `${server}: `}${message}`, "mend .mcp.json: it is not served until then"),
  );
  const names = servers.map(({ name }) => name).join(", ");
  return [...(servers.length === 0 ? [] : [ok(`.mcp.json names ${names}`)]), ...found];
}
