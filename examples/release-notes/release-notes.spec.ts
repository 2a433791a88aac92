import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkFunctions, definitionReferences, resolveWorkflow } from "@forge/workflow";
import { describe, expect, it } from "vitest";
import { describe as describeChange, people, read } from "./functions/changes.ts";
import { announce, draft, warn } from "./functions/notes.ts";

const ROOT = import.meta.dirname;

describe("the release notes example", () => {
  it("is a valid graph, whose last step is the other workflow, whole", async () => {
    const loaded = await resolveWorkflow(".", { directory: ROOT });
    const { definition, project, warnings } = loaded;
    expect(warnings).toEqual([]);
    expect(project.warnings).toEqual([]);
    expect(definition.steps.map(({ id, needs }) => `${id} < ${needs.join(" ")}`)).toEqual([
      "changes < ",
      "describe < changes",
      "people < changes",
      "warning < changes",
      "draft < describe people",
      "approved < draft",
      "publish < approved",
    ]);
    const { kind } = definition.steps.at(-1) ?? {};
    expect(kind?.case === "workflow" ? kind.value.definition?.steps.map(({ id }) => id) : undefined).toEqual(["write", "announce"]);
    expect(definitionReferences(definition).functions).toEqual([
      "changes.read",
      "changes.describe",
      "changes.people",
      "notes.warn",
      "notes.draft",
      "notes.announce",
    ]);
    expect(await checkFunctions(loaded, project)).toEqual([]);
    expect((await resolveWorkflow("publish-notes", { directory: ROOT })).definition.id).toBe("publish-notes");
  });

  it("makes notes of a log", async () => {
    const { changes, breaking } = read({ log: await readFile(join(ROOT, "log/1.4.0.txt"), "utf8") });
    expect(changes).toHaveLength(6);
    expect(changes[0]).toEqual({ commit: "4f1c2aa", author: "Ada Palmer", subject: "feat(search): find reports by the file that they name" });
    const described = changes.map((change, number) => describeChange({ change, number }));
    const { text } = draft({ version: "1.4.0", described: [...described, null], ...people({ changes }) });
    expect(text).toBe(
      [
        "# 1.4.0",
        "## Changes that break\n\n- **login:** sessions end after a day without use (c3a9410)",
        "## New\n\n- **search:** find reports by the file that they name (4f1c2aa)",
        "## Repaired\n\n- **export:** keep semicolons inside their column (9b0d7e1)\n- **page:** no blank page after the login on older phones (e60a3f2)",
        "## Documentation\n\n- how to read a stack trace (77e2f05)",
        "## Other\n\n- newer compiler (1d84b9c)",
        "Thanks to Ada Palmer, Bo Lindqvist, Chie Mori.",
      ].join("\n\n"),
    );
    expect(warn({ version: "1.4.0", breaking }).written).toContain("in 1 place:");
    expect(announce({ version: "1.4.0" }).message).toContain("releases/1.4.0.md");
  });

  it("passes over lines that are no commit, and fails on a change that it can't place", () => {
    expect(read({ log: "merge\r\n4f1c2aa Ada fix: x\r\n\r\n" }).changes).toEqual([{ commit: "4f1c2aa", author: "Ada", subject: "fix: x" }]);
    expect(read({ log: "" })).toEqual({ changes: [], breaking: 0 });
    expect(() => describeChange({ change: { commit: "4f1c2aa", author: "Ada", subject: "whatever" }, number: 1 })).toThrow("change 2, 4f1c2aa");
  });
});
