import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { AuthProvider, OAuthClientProvider, StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";

/** What is known of a login to one server. */
export interface McpLogin {
  readonly client: StoredOAuthClientInformation;
  readonly tokens: StoredOAuthTokens;
  readonly redirectUrl: string;
}

/** Who Forge says that it is to a server that people log in to. */
export const CLIENT_NAME = "Forge";

/** Logins of HTTP servers, in a file that only its owner reads. Other processes may log in meanwhile: it is read at every use. */
export class McpTokens {
  readonly #file: string;
  #writing: Promise<void> = Promise.resolve();

  /** `dataDirectory` is where everything durable of a project lies; it need not exist yet. */
  constructor(dataDirectory: string) {
    this.#file = path.join(dataDirectory, "mcp-logins.json");
  }

  async find(url: URL): Promise<McpLogin | undefined> {
    return (await this.#read())[keyOf(url)];
  }

  async save(url: URL, login: McpLogin): Promise<void> {
    await this.#change((logins) => ({ ...logins, [keyOf(url)]: login }));
  }

  /** Whether there was a login to be forgotten. */
  async forget(url: URL): Promise<boolean> {
    let found = false;
    await this.#change(({ [keyOf(url)]: old, ...others }) => {
      found = old !== undefined;
      return others;
    });
    return found;
  }

  /** Presents the login of a server where there is one, and renews it; where people have to log in, that is said. */
  async provider(server: string, url: URL): Promise<AuthProvider | OAuthClientProvider> {
    const login = await this.find(url);
    const refuse = (): never => {
      throw loginRequired(server);
    };
    if (login === undefined) return { token: () => Promise.resolve(undefined), onUnauthorized: () => Promise.reject(loginRequired(server)) };
    return {
      redirectUrl: login.redirectUrl,
      clientMetadata: clientMetadata(login.redirectUrl),
      clientInformation: async () => (await this.find(url))?.client,
      tokens: async () => (await this.find(url))?.tokens,
      saveTokens: async (tokens) => this.save(url, { ...((await this.find(url)) ?? login), tokens }),
      redirectToAuthorization: refuse,
      saveCodeVerifier: refuse,
      codeVerifier: refuse,
    };
  }

  async #read(): Promise<Readonly<Record<string, McpLogin>>> {
    try {
      return JSON.parse(await readFile(this.#file, "utf8")) as Record<string, McpLogin>;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw error;
    }
  }

  #change(change: (logins: Readonly<Record<string, McpLogin>>) => Readonly<Record<string, McpLogin>>): Promise<void> {
    const done = this.#writing.then(async () => this.#write(change(await this.#read())));
    this.#writing = done.catch(() => {});
    return done;
  }

  async #write(logins: Readonly<Record<string, McpLogin>>): Promise<void> {
    await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    const temporary = `${this.#file}.${randomUUID()}`;
    try {
      const handle = await open(temporary, "wx", 0o600);
      try {
        await handle.writeFile(JSON.stringify(logins));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, this.#file);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}

/** What a program that runs on somebody's own machine says of itself: it has no secret. */
export function clientMetadata(redirectUrl: string): OAuthClientProvider["clientMetadata"] {
  return {
    client_name: CLIENT_NAME,
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

function loginRequired(server: string): ForgeError {
  return new ForgeError(ErrorCode.UNAUTHENTICATED, `the MCP server ${server} wants a login: run \`forge mcp login ${server}\``, {
    reason: "MCP_LOGIN_REQUIRED",
    origin: "tool",
  });
}

function keyOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
