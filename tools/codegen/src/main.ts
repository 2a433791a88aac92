import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findPython } from "@forge/python";
import { execa } from "execa";
import { directoryDifference } from "./directory-difference.ts";

// With --write it generates. Otherwise it checks the contracts: they follow the lint rules, they break nothing that was released, and the generated code in the repository is what they generate.
// Everything is checked before it fails, so that one run shows all there is to repair.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** What is generated, by a template of buf's and, where its plugins need one, a program beside Node. */
const GENERATED: readonly { readonly directory: string; readonly template: string; readonly needs?: string }[] = [
  { directory: "libs/protocol/src/gen", template: "buf.gen.yaml" },
  { directory: "test/contract/drivers/go/gen", template: "test/contract/drivers/go/buf.gen.yaml", needs: "go" },
];
const PYTHON_PACKAGE = "libs/client-python/src/forge_client";
/** Go's plugins are downloaded and compiled the first time, which takes minutes on a small machine that is busy. */
const RUN_MS_MAX = 8 * 60_000;
const run = execa({ cwd: ROOT, preferLocal: true, localDir: ROOT, reject: false, all: true, timeout: RUN_MS_MAX });

async function buf(what: string, args: readonly string[]): Promise<boolean> {
  const { failed, timedOut, all } = await run("buf", ["--timeout", "0", ...args]);
  const late = timedOut ? ` after ${RUN_MS_MAX / 1000} s` : "";
  console.log(failed ? `${what}: failed${late}\n${all}` : `${what}: ok`);
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

/** What can be generated here. In CI that is everything: what is missing fails there. */
async function generatable(): Promise<typeof GENERATED> {
  const found: (typeof GENERATED)[number][] = [];
  for (const each of GENERATED) {
    if (each.needs === undefined || process.env.CI !== undefined || !(await run(each.needs, ["version"])).failed) found.push(each);
    else console.log(`${each.directory}: left out, since ${each.needs} is not installed`);
  }
  return found;
}

async function write(): Promise<boolean> {
  const results: boolean[] = [];
  for (const { directory, template } of await generatable()) results.push(await buf(directory, ["generate", "--template", template]));
  results.push(await writePython());
  return results.every(Boolean);
}

/** What the Python package and its contract driver have from the contracts; that it is what they give is one of the package's own tests. */
async function writePython(): Promise<boolean> {
  const python = await findPython();
  if (typeof python !== "string") {
    console.log(`${PYTHON_PACKAGE}: left out: ${python.missing}`);
    return process.env.CI === undefined;
  }
  const generate = ["-B", "libs/client-python/codegen/generate.py", "proto", PYTHON_PACKAGE, "test/contract/drivers/python"];
  const { failed, all } = await run(python, generate);
  console.log(failed ? `${PYTHON_PACKAGE}: failed\n${all}` : `${PYTHON_PACKAGE}: ok`);
  return !failed;
}

async function generated(): Promise<boolean> {
  const output = await mkdtemp(join(tmpdir(), "forge-codegen-"));
  try {
    const results: boolean[] = [];
    for (const { directory, template } of await generatable()) {
      const made = await buf(`buf generate ${directory}`, ["generate", "--template", template, "--output", output]);
      const difference = made ? await directoryDifference(join(output, directory), join(ROOT, directory)) : [];
      if (difference.length > 0) console.log(`${directory}: run \`npm run generate\`\n  ${difference.join("\n  ")}`);
      results.push(made && difference.length === 0);
    }
    return results.every(Boolean);
  } finally {
    await rm(output, { recursive: true });
  }
}

const results = process.argv.includes("--write") ? [await write()] : [await buf("buf lint", ["lint"]), await breaking(), await generated()];
process.exitCode = results.every(Boolean) ? 0 : 1;
