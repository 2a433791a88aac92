import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findPython } from "./find-python.ts";
import { readProjectEnvironment } from "./project-environment.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "forge-environment-"));
});
afterEach(async () => {
  await rm(root, { recursive: true });
});

it("reads a project's .env, where there is one", async () => {
  expect(await readProjectEnvironment(root)).toEqual({});
  await writeFile(path.join(root, ".env"), "# keys\nOPENAI_API_KEY=abc\nNAME=\"two words\"\nexport OTHER='x' # said\n\nEMPTY=\n");
  expect(await readProjectEnvironment(root)).toEqual({ OPENAI_API_KEY: "abc", NAME: "two words", OTHER: "x", EMPTY: "" });
});

it("passes over a directory of that name, and refuses what is no file of variables", async () => {
  await mkdir(path.join(root, ".env"));
  expect(await readProjectEnvironment(root)).toEqual({});
  await rm(path.join(root, ".env"), { recursive: true });
  await writeFile(path.join(root, ".env"), "x".repeat(300_000));
  await expect(readProjectEnvironment(root)).rejects.toThrow("more than 262144 bytes");
});

it("finds the Python that is named, is active, or lies in the project, in this order", async () => {
  const make = async (place: string): Promise<string> => {
    await mkdir(path.join(root, place, "bin"), { recursive: true });
    await writeFile(path.join(root, place, "bin", "python3"), "");
    return path.join(root, place, "bin", "python3");
  };
  expect(await findPython(root, {})).toBe("python3");
  const venv = await make("venv");
  expect(await findPython(root, {})).toBe(venv);
  const hidden = await make(".venv");
  expect(await findPython(root, { VIRTUAL_ENV: path.join(root, "gone") })).toBe(hidden);
  const active = await make("active");
  expect(await findPython(root, { VIRTUAL_ENV: path.join(root, "active") })).toBe(active);
  expect(await findPython(root, { VIRTUAL_ENV: path.join(root, "active"), FORGE_PYTHON: "python3.12" })).toBe("python3.12");
});
