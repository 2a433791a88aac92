import { afterAll, beforeAll, expect, it } from "vitest";
import { type CliResult, forge, until } from "../testing/cli.ts";
import { createTestProject, type TestProject } from "../testing/project.ts";

let project: TestProject;
beforeAll(async () => {
  project = await createTestProject();
});
afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

const run = (...words: string[]): Promise<CliResult> => forge(["schedule", ...words], { directory: project.root });

interface Shown {
  readonly schedule: {
    readonly schedule_id: string;
    readonly paused?: boolean;
    readonly note?: string;
    readonly next_at?: string;
    readonly spec: { readonly cron: string[] };
  };
  readonly upcoming?: readonly string[];
  readonly past?: readonly { readonly outcome: string; readonly run_id?: string; readonly command_id?: string }[];
}

async function show(id: string, ...words: string[]): Promise<Shown> {
  const { stdout, stderr } = await run("show", id, "--json", ...words);
  expect(stderr).toBe("");
  return JSON.parse(stdout) as Shown;
}

it("lists nothing where nothing was ever kept, and starts no server for it", async () => {
  expect(await run("list")).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("no schedules") });
});

it("starts runs at its times, with inputs and labels, until it is paused", async () => {
  const put = await run(
    "put",
    "often",
    "greet",
    "--cron",
    "* * * * * *",
    "--timezone",
    "Europe/Berlin",
    "-i",
    "name=Ada",
    "--label",
    "team=a",
    "--note",
    "a test",
  );
  expect(put).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Schedule often of greet@v1 starts next at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d Europe\/Berlin\.\n$/),
  });
  await until(async () => ((await show("often")).past ?? []).some(({ outcome }) => outcome === "STARTED"), "a first run");
  expect(await run("pause", "often", "--note", "enough")).toMatchObject({ code: 0, stdout: "Schedule often is paused.\n" });
  const { schedule, past = [], upcoming } = await show("often", "--limit", "500");
  expect(schedule).toMatchObject({ paused: true, note: "enough", spec: { cron: ["* * * * * *"] } });
  expect(upcoming).toBeUndefined();
  const started = past.filter(({ outcome }) => outcome === "STARTED").map(({ run_id: id = "" }) => id);
  expect(new Set(started).size).toBe(started.length);
  const inspected = await forge(["inspect", started.at(-1) as string, "--json"], { directory: project.root });
  expect(inspected.stdout).toContain('"schedule_id":"often"');
  expect(inspected.stdout).toContain('"team":"a"');
  const listed = await forge(["runs", "--label", "schedule_id=often", "--json", "--limit", "500"], { directory: project.root });
  expect(listed.json()).toHaveLength(started.length);
  expect((await run("list")).stdout).toMatch(/^often +\* \* \* \* \* \* +Europe\/Berlin +greet@v1 +paused +[0-9a-f-]{36} +enough$/m);
});

it("starts one by hand once for each command, also while it is paused, and shows its past", async () => {
  await run(
    "put",
    "yearly",
    "greet",
    "--cron",
    "@yearly",
    "--cron",
    "0 12 29 FEB *",
    "--overlap",
    "buffer-one",
    "--catch-up",
    "2h",
    "-i",
    "name=Ada",
    "--paused",
  );
  const first = await run("trigger", "yearly", "--command-id", "once", "--json");
  const second = await run("trigger", "yearly", "--command-id", "once", "--json");
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("run_id") });
  expect(second.stdout).toBe(first.stdout);
  expect((await show("yearly")).past).toMatchObject([{ outcome: "STARTED", command_id: "once" }]);
  expect(await run("continue", "yearly", "--note", "")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Schedule yearly starts next at \d{4}-01-01 00:00:00\.\n$/),
  });
  const { stdout } = await run("show", "yearly", "--next", "2");
  expect(stdout).toMatch(/overlap +buffer_one\n/);
  expect(stdout).toMatch(/catch-up +2h00m\n/);
  expect(stdout).toMatch(/Next times\n {2}\d{4}-01-01 00:00:00\n {2}\d{4}-\d\d-\d\d \d\d:00:00\n/);
  expect(stdout).toMatch(/started by hand +[0-9a-f-]{36}/);
});

it("is the same when it is put again, and gone when it is deleted", async () => {
  const words = ["put", "same", "greet", "--cron", "@daily", "-i", "name=Ada", "--json"];
  const [first, second] = [await run(...words), await run(...words)];
  expect(first.code).toBe(0);
  expect(second.stdout).toBe(first.stdout);
  expect(await run("delete", "same")).toMatchObject({ code: 0 });
  expect(await run("delete", "same")).toMatchObject({ code: 3, stderr: expect.stringContaining("schedule same does not exist") });
  expect(await run("show", "same")).toMatchObject({ code: 3 });
});

it.each<[string[], RegExp]>([
  [["put", "x", "greet", "-i", "name=A"], /--cron/],
  [["put", "x", "greet", "-i", "name=A", "--cron", "61 * * * *"], /spec\.cron\[0\] "61 \* \* \* \*" is no cron expression/],
  [["put", "x", "greet", "-i", "name=A", "--cron", "@daily", "--timezone", "Mars/Olympus"], /IANA name/],
  [["put", "x", "greet", "-i", "name=A", "--cron", "@daily", "--overlap", "never"], /SKIP, BUFFER_ONE, ALLOW_ALL, CANCEL_OTHER/],
  [["put", "x", "greet", "-i", "name=A", "--cron", "@daily", "--catch-up", "31d"], /0 to 30 days/],
  [["put", "x", "greet", "-i", "name=A", "--cron", "@daily", "--end", "2020-01-01T00:00:00Z"], /no time is to come/],
  [["put", "x", "greet", "-i", "name=A", "--cron", "@daily", "--start", "tomorrow"], /2026-12-24T18:00:00Z/],
  [["put", "a b", "greet", "-i", "name=A", "--cron", "@daily"], /letters, digits/],
  [["put", "x", "greet", "--cron", "@daily"], /name/],
])("refuses schedule %j", async (words, says) => {
  expect(await run(...words)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(says) });
});
