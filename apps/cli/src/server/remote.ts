import { ForgeError } from "@forge/protocol";
import type { Context, ServerOptions } from "../context.ts";

/** A control plane that a person named, in place of the project's own server. */
export interface Remote {
  readonly url: string;
  readonly token: string;
  /** Absent: the credential's first. */
  readonly namespace?: string;
}

const TOKEN = /^[\x21-\x7e]{16,512}$/;
const NAMESPACE = /^[\x21-\x7e]{1,128}$/;

/** What --url or FORGE_URL names, with FORGE_TOKEN as credential; undefined: the project's own server. Errors: validation. */
export function remoteOf({ environment }: Pick<Context, "environment">, options: ServerOptions): Remote | undefined {
  const url = options.url ?? (environment.FORGE_URL || undefined);
  if (url === undefined) {
    if (options.namespace !== undefined)
      throw ForgeError.validation("namespace", "--namespace goes with --url or FORGE_URL: a project's own server has one namespace");
    return undefined;
  }
  const source = options.url === undefined ? "FORGE_URL" : "--url";
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw ForgeError.validation("url", `${source} is no URL of a control plane: write for example http://127.0.0.1:7233`);
  }
  if (options.foreground === true)
    throw ForgeError.validation("foreground", `--foreground serves the project here, and ${source} names a server elsewhere: leave one out`);
  const token = environment.FORGE_TOKEN?.trim() ?? "";
  if (!TOKEN.test(token)) {
    const what = token === "" ? "FORGE_TOKEN is not set" : "FORGE_TOKEN holds no token";
    throw ForgeError.validation("FORGE_TOKEN", `${what}: ${source} names a server, which knows its callers by their tokens (forge token add makes one)`, {
      reason: "TOKEN_MISSING",
    });
  }
  const namespace = options.namespace ?? (environment.FORGE_NAMESPACE || undefined);
  if (namespace !== undefined && !NAMESPACE.test(namespace)) throw ForgeError.validation("namespace", "a namespace is 1 to 128 visible ASCII characters");
  return { url: url.replace(/\/+$/, ""), token, namespace };
}

/** What a later command must say to mean the same control plane; what comes from the environment is there then as well. */
export function remoteHint({ url, namespace }: ServerOptions): string {
  return `${url === undefined ? "" : ` --url ${url}`}${namespace === undefined ? "" : ` --namespace ${namespace}`}`;
}
