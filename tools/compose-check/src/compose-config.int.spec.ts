import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const COMMANDS = [
  ["docker", ["compose"]],
  ["docker-compose", []],
] as const;

const run = promisify(execFile);

async function composeCommand(): Promise<(typeof COMMANDS)[number] | undefined> {
  for (const command of COMMANDS) {
    const isThere = await run(command[0], [...command[1], "version"]).then(
      () => true,
      () => false, // The question's answer.
    );
    if (isThere) return command;
  }
  return undefined;
}

it("is a file that Compose takes, and refuses to use without a password", async (context) => {
  const command = await composeCommand();
  // The file's own tests hold what it promises; this one holds that Compose reads it as we do.
  if (command === undefined && !process.env.CI) return context.skip("Compose is not installed");
  if (command === undefined) throw new Error("Compose is not installed, which is needed where CI is set");
  const [file, args] = command;
  const config = (environment: NodeJS.ProcessEnv) => run(file, [...args, "config"], { cwd: ROOT, env: { ...process.env, ...environment } });
  const { stdout } = await config({ POSTGRES_PASSWORD: "secret" });
  expect(stdout).toContain("postgres://forge:secret@postgres:5432/forge");
  await expect(config({ POSTGRES_PASSWORD: "" })).rejects.toThrow(/POSTGRES_PASSWORD/);
});
