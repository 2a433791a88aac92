import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { HttpServer, McpConfig, McpServer } from "@forge/host";
import { dataDirectoryOf } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { locateWorkspace } from "../agent/locate-workspace.ts";
import { trustOf } from "../agent/workspace-trust.ts";
import type { CommonOptions, Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { oneLine } from "../output/text.ts";
import { onSignals } from "../signals.ts";

const CONFIG_FILE = ".mcp.json";
const CONFIG_BYTES_MAX = 1_048_576;

/** `forge mcp list`: the MCP servers that the workspace names, and what keeps them from being served. Starts none of them. */
export async function listMcpCommand(context: Context, options: CommonOptions): Promise<number> {
  const { terminal, environment } = context;
  const { root } = await locateWorkspace(context, options, { hasData: false });
  const { servers, problems } = await readConfig(root);
  const { state } = await (await trustOf(environment)).readTrust(root);
  const logins = await loginsOf(root);
  for (const server of servers) {
    const isLoggedIn = server.kind === "http" && URL.canParse(server.url) && (await logins.find(new URL(server.url))) !== undefined;
    const facts = { name: server.name, kind: server.kind, target: targetOf(server), trusted: state === "trusted", logged_in: isLoggedIn };
    if (options.json === true) terminal.print(JSON.stringify(facts));
    else {
      const notes = [...(state === "trusted" ? [] : ["not run: the workspace is not trusted"]), ...(isLoggedIn ? ["logged in"] : [])];
      terminal.print(
        `${terminal.style.bold(oneLine(server.name))}  ${server.kind}  ${oneLine(facts.target)}  ${terminal.style.dim(notes.join(", "))}`.trimEnd(),
      );
    }
  }
  for (const { server, message } of problems) terminal.note(terminal.errorStyle.yellow(`${server === "" ? "" : `${oneLine(server)}: `}${oneLine(message)}`));
  if (servers.length === 0 && problems.length === 0 && options.json !== true) terminal.note(`${path.join(root, CONFIG_FILE)} names no MCP servers`);
  return EXIT.OK;
}

/** `forge mcp login`: logs in to an HTTP server in a browser. */
export async function loginMcpCommand(context: Context, name: string, options: CommonOptions): Promise<number> {
  const { terminal, environment } = context;
  const { root } = await locateWorkspace(context, options, { hasData: false });
  const server = await httpServer(root, name);
  // The address is the workspace's: nobody is sent there before he has said that he trusts it.
  if ((await (await trustOf(environment)).readTrust(root)).state !== "trusted")
    throw ForgeError.validation("workspace", `${root} is not trusted, and says where ${name} is: look at forge trust --show, then trust it with forge trust`, {
      reason: "WORKSPACE_UNTRUSTED",
    });
  const { loginMcpServer } = await import("@forge/host");
  const stop = new AbortController();
  const release = onSignals({ SIGINT: () => stop.abort(new ForgeError(ErrorCode.CANCELLED, "the login was cancelled", { origin: "client" })) });
  try {
    const open = (url: URL): void => {
      terminal.note(`Log in to ${name} here:\n${url.href}`);
      if (terminal.canAsk) openBrowser(url);
    };
    await loginMcpServer({ server: name, url: urlOf(server), tokens: await loginsOf(root), open, signal: stop.signal });
  } finally {
    release();
  }
  terminal.print(options.json === true ? JSON.stringify({ logged_in: name }) : `Logged in to ${oneLine(name)}.`);
  return EXIT.OK;
}

/** `forge mcp logout` */
export async function logoutMcpCommand(context: Context, name: string, options: CommonOptions): Promise<number> {
  const { terminal } = context;
  const { root } = await locateWorkspace(context, options, { hasData: false });
  const had = await (await loginsOf(root)).forget(urlOf(await httpServer(root, name)));
  terminal.print(
    options.json === true ? JSON.stringify({ logged_out: had }) : had ? `Logged out of ${oneLine(name)}.` : `There was no login to ${oneLine(name)}.`,
  );
  return EXIT.OK;
}

async function httpServer(root: string, name: string): Promise<HttpServer> {
  const { servers } = await readConfig(root);
  const server = servers.find((each) => each.name === name);
  if (server === undefined)
    throw new ForgeError(ErrorCode.NOT_FOUND, `${CONFIG_FILE} names no server ${name}: forge mcp list tells which there are`, {
      reason: "MCP_SERVER_NOT_FOUND",
    });
  if (server.kind !== "http") throw ForgeError.validation("server", `${name} is a program on this machine, which nobody logs in to`);
  return server;
}

async function readConfig(root: string): Promise<McpConfig> {
  const file = path.join(root, CONFIG_FILE);
  const [{ parseMcpConfig }, text] = await Promise.all([import("@forge/host"), readText(file)]);
  return text === undefined ? { servers: [], problems: [] } : parseMcpConfig(text, CONFIG_FILE);
}

async function readText(file: string): Promise<string | undefined> {
  try {
    const text = await readFile(file, "utf8");
    if (text.length > CONFIG_BYTES_MAX) throw ForgeError.validation("file", `${file} has more than ${CONFIG_BYTES_MAX} characters`);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function loginsOf(root: string) {
  const { McpTokens } = await import("@forge/host");
  return new McpTokens(dataDirectoryOf(root));
}

function targetOf(server: McpServer): string {
  return server.kind === "http" ? server.url : [server.command, ...server.args].join(" ");
}

/** Errors: validation, where the address is none, or is made of variables: what they hold must not get into a browser. */
function urlOf({ name, url }: HttpServer): URL {
  if (/\$\{|secret:\/\//.test(url))
    throw ForgeError.validation("url", `the address of ${name} is made of variables or secrets: nobody logs in to such a one by a browser`);
  if (!URL.canParse(url)) throw ForgeError.validation("url", `the address of ${name} is no URL`);
  return new URL(url);
}

function openBrowser(url: URL): void {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [url.href], { stdio: "ignore", detached: true });
  // Without a browser the person opens the address himself.
  child.on("error", () => undefined);
  child.unref();
}
