import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { directoryDifference } from "./directory-difference.ts";

// Checks the contracts: they follow the lint rules, they break nothing that was released, and the generated code in the repository is what they generate.
// Everything is checked before it fails, so that one run shows all there is to repair.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const GENERATED = "libs/protocol/src/gen";
const run = execa({ cwd: ROOT, preferLocal: true, localDir: ROOT, reject: false, all: true, timeout: 120_000 });

async function buf(what: string, args: readonly string[]): Promise<boolean> {
  const { failed, all } = await run("buf", args);
  console.log(failed ? `${what}: failed\n${all}` : `${what}: ok`);
  return !failed;
}

/** The newest tag of a release (`v1.2.3`) that this commit descends from; none in a copy of the sources without their history. */
async function lastRelease(): Promise<string | undefined> {
  const { failed, stdout, stderr } = await run("git", [
    "-c",
    `safe.directory=${ROOT}`,
    "tag",
    "--list",
    "v[0-9]*",
    "--sort=-version:refname",
    "--merged",
    "HEAD",
  ]);
  if (failed && !stderr.includes("not a git repository")) throw new Error(`git can't list the release tags: ${stderr}`);
  return stdout.split("\n").find((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
}

async function breaking(): Promise<boolean> {
  const tag = await lastRelease();
  if (tag === undefined) {
    console.log("buf breaking: there is no release tag yet, so there is nothing to compare with");
    return true;
  }
  return await buf(`buf breaking against ${tag}`, ["breaking", "--against", `.git#tag=${tag}`]);
}

async function generated(): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), "forge-codegen-"));
  try {
    if (!(await buf("buf generate", ["generate", "--output", directory]))) return false;
    const difference = await directoryDifference(join(directory, GENERATED), join(ROOT, GENERATED));
    console.log(difference.length === 0 ? "generated code: equals its source" : `generated code: run \`npm run generate\`\n  ${difference.join("\n  ")}`);
    return difference.length === 0;
  } finally {
    await rm(directory, { recursive: true });
  }
}

const results = [await buf("buf lint", ["lint"]), await breaking(), await generated()];
process.exitCode = results.every(Boolean) ? 0 : 1;
