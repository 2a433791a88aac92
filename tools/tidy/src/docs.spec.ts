import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ErrorCodeSchema } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import { parseAgent, parseWorkflow } from "@forge/workflow";
import { glob } from "tinyglobby";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

async function read(path: string): Promise<string> {
  return await readFile(join(ROOT, path), "utf8");
}

/** The names in code in the first column of a page's tables. */
function firstColumn(page: string): string[] {
  return page
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) => Array.from((line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g), (match) => match[1] ?? ""));
}

/** Links to files of the repository, with the page that holds them. */
function linksOf(page: string, text: string): string[] {
  return Array.from(text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g), (match) => match[1] ?? "")
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => join(dirname(page), target));
}

it("has the two commands that a newcomer types, each a line of its own", async () => {
  const lines = (await read("README.md")).split("\n");
  expect(lines).toContain("npm ci && npx forge run examples/triage -i issue=@examples/triage/issues/login-crash.md");
  expect(lines).toContain("npm ci && npm test");
});

it("links to files that exist", async () => {
  const pages = await glob(["*.md", "docs/**/*.md", "examples/**/*.md"], { cwd: ROOT, ignore: ["**/node_modules/**"] });
  const links = (await Promise.all(pages.map(async (page) => linksOf(page, await read(page))))).flat();
  expect(links.length).toBeGreaterThan(10);
  const broken: string[] = [];
  for (const link of links) {
    const exists = await stat(join(ROOT, link)).then(
      () => true,
      () => false, // The check's answer; any reason why it can't be read makes the link a broken one.
    );
    if (!exists) broken.push(link);
  }
  expect(broken).toEqual([]);
});

it("finds a link with its anchor removed, and passes over addresses", () => {
  expect(linksOf("docs/start.md", "[a](guides/x.md#part) [b](https://example.org) [c](../README.md)")).toEqual(["docs/guides/x.md", "README.md"]);
});

it("lists every kind of event, and no other", async () => {
  const kinds = EventSchema.oneofs.flatMap(({ fields }) => fields).map(({ name }) => name.replace("_", "."));
  const listed = firstColumn(await read("docs/reference/events.md")).filter((name) => name.includes("."));
  expect(listed.toSorted()).toEqual(kinds.toSorted());
});

it("lists every error code, and no other", async () => {
  const codes = ErrorCodeSchema.values.filter(({ number }) => number !== 0).map(({ name }) => name.replace("ERROR_CODE_", "").toLowerCase());
  const section = (await read("docs/reference/errors.md")).split("## Codes")[1]?.split("\n## ")[0] ?? "";
  expect(firstColumn(section).toSorted()).toEqual(codes.toSorted());
});

it("lists every decision in the index of decisions", async () => {
  const pages = await glob("docs/adr/*.md", { cwd: ROOT, ignore: ["docs/adr/README.md"] });
  expect(linksOf("docs/adr/README.md", await read("docs/adr/README.md")).toSorted()).toEqual(pages.toSorted());
});

it("has a workflow and an agent in its guide that are right", async () => {
  const blocks = Array.from((await read("docs/guides/write-a-workflow.md")).matchAll(/```yaml\n(.*?)```/gs), (match) => match[1] ?? "");
  const [workflow = "", agentText = ""] = blocks;
  const agent = parseAgent(agentText, { file: "editor.yaml", model: undefined, provider: undefined });
  expect(agent.warnings).toEqual([]);
  const { definition, warnings } = parseWorkflow(workflow, { file: "greet.yaml", agents: { find: () => ({ kind: "found", agent }) } });
  expect(warnings).toEqual([]);
  expect(definition.steps.map(({ id }) => id)).toEqual(["greeting", "soften", "save"]);
});
