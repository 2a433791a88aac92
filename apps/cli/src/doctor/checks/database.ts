import { ForgeError } from "@forge/protocol";
import { describeDatabase } from "../../server/project-settings.ts";
import { type Found, ok, problem, warning } from "../finding.ts";
import type { Subject } from "../subject.ts";

const ANSWER_MS_MAX = 3_000;

const HOW: Readonly<Record<string, string>> = {
  direct: "",
  "user-namespace": ", in a user namespace, since PostgreSQL refuses to run as root",
  "unprivileged-user": ", as the user nobody, since PostgreSQL refuses to run as root",
};

/** The database that the project's server would use. */
export async function checkDatabase({ settings, environment }: Subject, signal: AbortSignal): Promise<Found> {
  const databaseUrl = settings === undefined ? environment.DATABASE_URL || undefined : settings.databaseUrl;
  if (databaseUrl === undefined) return checkEmbedded(signal);
  const found = await checkExternal(databaseUrl, "DATABASE_URL");
  const directUrl = settings === undefined ? environment.DATABASE_DIRECT_URL || undefined : settings.databaseDirectUrl;
  if (found.status !== "ok" || directUrl === undefined) return found;
  const past = await checkExternal(directUrl, "DATABASE_DIRECT_URL");
  return past.status === "ok" ? ok(`${found.message}; past its pooler ${describeDatabase(directUrl)}`) : past;
}

async function checkEmbedded(signal: AbortSignal): Promise<Found> {
  try {
    const { inspectEmbedded } = await import("@forge/host");
    const { version, launcher } = await inspectEmbedded(signal);
    return ok(`embedded PostgreSQL ${version} can be run${HOW[launcher] ?? ""}`);
  } catch (error) {
    return problem(`the embedded PostgreSQL can't be run: ${messageOf(error)}`, "do what it says, or use a PostgreSQL of your own: set DATABASE_URL");
  }
}

async function checkExternal(databaseUrl: string, variable: string): Promise<Found> {
  const name = describeDatabase(databaseUrl);
  if (!/^postgres(?:ql)?:\/\//.test(databaseUrl) || !URL.canParse(databaseUrl))
    return problem(`${variable} is no URL of a PostgreSQL`, "write postgres://user:password@host/database, or leave it unset for the embedded one");
  try {
    const { inspectDatabase } = await import("@forge/host");
    const { version, schemaVersion, knownSchemaVersion } = await inspectDatabase({ connectionString: databaseUrl, timeoutMs: ANSWER_MS_MAX });
    const schema =
      schemaVersion === 0
        ? "no schema of Forge's yet: the first start makes it"
        : schemaVersion < knownSchemaVersion
          ? `schema ${schemaVersion}, which the next start brings to ${knownSchemaVersion}`
          : `schema ${schemaVersion}`;
    if (schemaVersion > knownSchemaVersion) {
      return warning(
        `${name}, version ${version}: its schema ${schemaVersion} is newer than this Forge's ${knownSchemaVersion}`,
        "a newer Forge has used it: use that one here as well",
      );
    }
    return ok(`${name}, version ${version}, ${schema}`);
  } catch (error) {
    return problem(
      `${name} can't be used: ${withoutPassword(messageOf(error), databaseUrl)}`,
      `look whether it runs and accepts this user, and whether ${variable} is right`,
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof ForgeError || error instanceof Error ? error.message : String(error);
}

function withoutPassword(message: string, databaseUrl: string): string {
  const { password } = new URL(databaseUrl);
  return password === "" ? message : message.replaceAll(decodeURIComponent(password), "***").replaceAll(password, "***");
}
