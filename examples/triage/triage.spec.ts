import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { definitionReferences, parseInputs, resolveWorkflow } from "@forge/workflow";
import { describe, expect, it } from "vitest";
import { format_backlog } from "./functions/backlog.ts";
import { format_escalation } from "./functions/escalation.ts";
import { type ParsedReport, parse_report } from "./functions/parse.ts";

const ROOT = import.meta.dirname;

async function parse(name: string): Promise<ParsedReport> {
  return parse_report({ issue: (await parseInputs([`issue=@issues/${name}.md`], ROOT))["issue"] as string });
}

/** The lines of the example's source that a pattern finds. */
async function search(pattern: string): Promise<string[]> {
  const expression = new RegExp(pattern);
  const names = (await readdir(join(ROOT, "source"), { recursive: true })).filter((name) => name.endsWith(".ts")).toSorted();
  const found = await Promise.all(
    names.map(async (name) =>
      (await readFile(join(ROOT, "source", name), "utf8")).split("\n").flatMap((line, index) => (expression.test(line) ? `${name}:${index + 1}` : [])),
    ),
  );
  return found.flat();
}

describe("the triage example", () => {
  it("is a valid workflow that needs what the project has", async () => {
    const { definition, project, warnings } = await resolveWorkflow(".", { directory: ROOT });
    expect(warnings).toStrictEqual([]);
    expect(project.warnings).toStrictEqual([]);
    expect(definition.steps.map(({ id }) => id)).toStrictEqual(["parse", "search", "triage", "escalate", "backlog", "report"]);
    const { functions, tools, models } = definitionReferences(definition);
    expect([tools, models]).toStrictEqual([["tools.search", "tools.file"], ["demo/triage"]]);
    for (const name of functions) {
      const [module, exported] = name.split(".") as [string, string];
      expect((await import(join(project.functionsDir, `${module}.ts`))) as object).toHaveProperty(exported);
    }
  });

  it("declares the outputs that its functions return", async () => {
    const { definition } = await resolveWorkflow("triage", { directory: ROOT });
    const outputs = (id: string): string[] => definition.steps.find((step) => step.id === id)?.outputs.toSorted() ?? [];
    for (const name of ["login-crash", "windows-line-ends", "non-latin", "not-a-bug"])
      expect(Object.keys(await parse(name)).toSorted()).toStrictEqual(outputs("parse"));
    expect(Object.keys(format_backlog({ title: "t", severity: "low", summary: "s", environment: {} }))).toStrictEqual(outputs("backlog"));
    expect(Object.keys(format_escalation({ title: "t", severity: "high", summary: "s", matches: [] }))).toStrictEqual(outputs("escalate"));
  });

  it("reads an ordinary report, and leads to the code", async () => {
    const report = await parse("login-crash");
    expect(report).toMatchObject({
      title: "Login page crashes when the session has been cleared",
      slug: "login-page-crashes-when-the-session-has-been-cleared",
      versions: { app: "4.12.0", chrome: "138", windows: "11" },
      environment: { browser: "Chrome 138", os: "Windows 11" },
      search_pattern: "\\brestoreSession\\b|\\bstartApp\\b",
    });
    expect(report.frames).toStrictEqual([
      { function: "restoreSession", file: "src/auth/session-store.ts", line: 25, column: 18, style: "javascript" },
      { function: "startApp", file: "src/app.ts", line: 7, column: 19, style: "javascript" },
      { function: "<anonymous>", file: "src/main.ts", line: 3, column: 1, style: "javascript" },
    ]);
    expect(await search(report.search_pattern)).toStrictEqual(["src/app.ts:1", "src/app.ts:6", "src/app.ts:7", "src/auth/session-store.ts:22"]);
  });

  it("reads one with Windows line ends like any other", async () => {
    const report = await parse("windows-line-ends");
    expect(report.excerpt).not.toContain("\r");
    expect(report.title).toBe("Export: cells with a semicolon end up in the next column");
    expect(report.frames.map(({ function: name, style }) => `${name} ${style}`)).toStrictEqual(["exportTable browser", "downloadReport browser"]);
    expect(report.environment).toStrictEqual({ environment: "Windows 10, Firefox 140", locale: "de-DE" });
    expect(await search(report.search_pattern)).toStrictEqual(["src/reports/export-table.ts:4"]);
  });

  it("reads one in Japanese", async () => {
    const report = await parse("non-latin");
    expect(report.title).toBe("ログイン後に画面が真っ白になり、アプリが強制終了する");
    expect(report.slug).toMatch(/^report-[0-9a-f]{8}$/);
    expect(report.versions).toStrictEqual({ app: "4.12.0", ios: "18.5", safari: "18" });
    expect(report.environment).toStrictEqual({ 環境: "iPhone 15、iOS 18.5、Safari 18" });
    expect(await search(report.search_pattern)).toStrictEqual(["src/auth/login-form.ts:13", "src/auth/login-form.ts:21", "src/auth/login-form.ts:26"]);
  });

  it("makes something of a letter that reports nothing", async () => {
    expect(await parse("not-a-bug")).toMatchObject({
      title: "The Lighthouse Garden, October letter",
      frames: [],
      versions: {},
      environment: {},
      search_pattern: "\\bLighthouse\\b|\\bOctober\\b|\\bGarden\\b",
    });
    expect(parse_report({ issue: "🌸🌸🌸" })).toMatchObject({ title: "Untitled report", search_pattern: "\\bUntitled\\b|\\breport\\b" });
    expect(parse_report({ issue: "" }).slug).toBe("untitled-report");
  });

  it("knows the stack traces of other languages", () => {
    const issue =
      'Boom\n  File "app/auth/session.py", line 42, in restore\n\tat com.example.auth.SessionStore.restore(SessionStore.java:7)\n> at async Login.submit [as onClick] (file:///srv/app/login.js:1:2)\n';
    expect(parse_report({ issue }).frames.map(({ function: name, file, line, style }) => [name, file, line, style])).toStrictEqual([
      ["restore", "app/auth/session.py", 42, "python"],
      ["com.example.auth.SessionStore.restore", "SessionStore.java", 7, "java"],
      ["Login.submit [as onClick]", "srv/app/login.js", 1, "javascript"],
    ]);
  });

  it("ends quickly, whatever is pasted", () => {
    const started = performance.now();
    for (const piece of ["at ", "a@", "(", " at a (b:1:1", "version ", "`a", 'File "', "　", "-", "\n"])
      parse_report({ issue: piece.repeat(Math.floor(1_000_000 / piece.length)) });
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it("tells the owners of the code, and keeps the rest for later", () => {
    const matches = [
      { file: "source/src/auth/session-store.ts", line: 23, text: "  export function restoreSession" },
      { file: "source/src/app.ts", line: 5, text: "x" },
    ];
    expect(format_escalation({ title: "Login", severity: "critical", summary: "s", matches }).text).toBe(
      "## Escalation\n\nTo: identity-team, web-team\nAnswer expected within 1 hour: Login\n\nCode that the report points at:\n\n- source/src/auth/session-store.ts:23 `export function restoreSession`\n- source/src/app.ts:5 `x`",
    );
    expect(format_escalation({ title: "Login", severity: "high", summary: "s", matches: [] }).text).toContain(
      "To: triage-rota\nAnswer expected within 1 working day: Login\n\nNo code of ours",
    );
    expect(format_backlog({ title: "Export", severity: "low", summary: "s", environment: { os: "Windows 10" } }).text).toBe(
      "## Backlog\n\nExport (low): to be looked at in the weekly triage.\n\nEnvironment:\n\n- os: Windows 10",
    );
  });
});
