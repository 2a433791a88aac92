import { readFileSync, statSync } from "node:fs";
import { parseEnv } from "node:util";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** Where a setting's `secret://name` is looked up, at the moment that it is used. */
export interface SecretSource {
  /** The text with each `secret://name` in it replaced. Throws not_found, SECRET_NOT_FOUND, naming the secret. */
  resolve(text: string): string;
  /** All that are known now, for the scrubber. */
  values(): string[];
}

/** The names of the secrets that a text asks for. */
export function secretNames(text: string): string[] {
  return [...text.matchAll(REFERENCE)].map(([, name]) => name as string);
}

/** Settings with each `secret://name` in their values replaced. */
export function resolveAll(settings: Readonly<Record<string, string>>, secrets: SecretSource = NONE): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, secrets.resolve(value)]));
}

const REFERENCE = /secret:\/\/([A-Za-z0-9_-]+)/g;
const VARIABLE_PREFIX = "FORGE_SECRET_";

/**
 * Secrets of the environment, `FORGE_SECRET_<NAME>` for `secret://name` (in capitals, `-` as `_`), and then of a file of lines `NAME=value`. A file that others
 * may read is refused with permission_denied.
 */
export function createSecretSource({ environment, file }: { environment: Readonly<NodeJS.ProcessEnv>; file?: string }): SecretSource {
  const find = (name: string): string | undefined => {
    const key = name.toUpperCase().replaceAll("-", "_");
    const value = environment[VARIABLE_PREFIX + key];
    if (value !== undefined) return value;
    return Object.entries(file === undefined ? {} : readSecrets(file)).find(([written]) => written.toUpperCase().replaceAll("-", "_") === key)?.[1];
  };
  return {
    resolve: (text) =>
      text.replaceAll(REFERENCE, (_reference, name: string) => {
        const value = find(name);
        if (value === undefined) throw notFound(name, file);
        return value;
      }),
    values: () => [
      ...Object.entries(environment).flatMap(([name, value]) => (name.startsWith(VARIABLE_PREFIX) && value !== undefined ? [value] : [])),
      ...(file === undefined ? [] : Object.values(readSecrets(file))),
    ],
  };
}

const NONE = createSecretSource({ environment: {} });

function readSecrets(file: string): Record<string, string> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return {};
  if ((found.mode & 0o077) !== 0) {
    throw new ForgeError(ErrorCode.PERMISSION_DENIED, `the file of secrets ${file} may be read by others; make it yours alone with chmod 600`, {
      reason: "SECRETS_EXPOSED",
    });
  }
  // A value of undefined is one that parseEnv never gives.
  return parseEnv(readFileSync(file, "utf8")) as Record<string, string>;
}

function notFound(name: string, file: string | undefined): ForgeError {
  const variable = VARIABLE_PREFIX + name.toUpperCase().replaceAll("-", "_");
  const places = file === undefined ? `the variable ${variable}` : `the variable ${variable} or a line in ${file}`;
  return new ForgeError(ErrorCode.NOT_FOUND, `there is no secret ${name}: set ${places}`, { reason: "SECRET_NOT_FOUND", origin: "tool" });
}
