import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSecretSource, secretNames } from "./secret-source.ts";

function secretsFile(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), "forge-secrets-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "secrets");
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

test("a name is looked up when it is used, in the environment first", () => {
  const environment: NodeJS.ProcessEnv = { FORGE_SECRET_MY_TOKEN: "of the environment", OTHER: "x" };
  const source = createSecretSource({ environment, file: secretsFile('MY_TOKEN=of the file\nother-one="of the file too"\n') });
  expect(source.resolve("Bearer secret://my-token, secret://other_one")).toBe("Bearer of the environment, of the file too");
  expect(source.values()).toEqual(["of the environment", "of the file", "of the file too"]);
  environment.FORGE_SECRET_MY_TOKEN = "changed";
  expect(source.resolve("secret://MY_TOKEN")).toBe("changed");
});

test("one that is missing is named, and its place", () => {
  expect(() => createSecretSource({ environment: {} }).resolve("secret://my-token")).toThrow(
    "there is no secret my-token: set the variable FORGE_SECRET_MY_TOKEN",
  );
  expect(createSecretSource({ environment: {}, file: "/forge/no/such/file" }).values()).toEqual([]);
});

test("a file that others may read is refused", () => {
  const file = secretsFile("A=b\n");
  chmodSync(file, 0o640);
  expect(() => createSecretSource({ environment: {}, file }).resolve("secret://a")).toThrow("may be read by others");
});

test("the names that a text asks for", () => {
  expect(secretNames("Bearer secret://a-b secret://C")).toEqual(["a-b", "C"]);
  expect(secretNames("nothing")).toEqual([]);
});
