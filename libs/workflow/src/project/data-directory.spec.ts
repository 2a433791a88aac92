import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFiles } from "../testing/project-files.ts";
import { dataDirectory, findDataDirectory } from "./data-directory.ts";
import { openProject } from "./project.ts";

describe("where a project's data is", () => {
  it.each([
    [undefined, "/p/.forge/data"],
    ["postgres://me@db/forge", "/p/.forge/data"],
    ["postgresql://me@db/forge", "/p/.forge/data"],
    ["runtime.db", "/p/.forge/data"],
    ["store", "/p/store"],
    ["../store/", "/store"],
    ["/var/forge", "/var/forge"],
    ["data/prod.db", "/p/data/prod.db.forge"],
    ["old.sqlite3", "/p/old.sqlite3.forge"],
  ])("by db_path %s it is %s", (dbPath, expected) => {
    expect(dataDirectory("/p", dbPath)).toBe(expected);
  });

  it("is found without loading the configuration, by the file that counts", async () => {
    await using files = await projectFiles({ "runtime.yaml": "a: 1\ndb_path: ${WHERE}/x\n", "runtime.prod.yaml": "db_path:  'y'  # there\r\nb: 2\r\n" });
    expect(findDataDirectory(files.root, { WHERE: "/w" })).toBe("/w/x");
    expect(findDataDirectory(files.root, { RUNTIME_ENV: "prod" })).toBe(join(files.root, "y"));
    expect(findDataDirectory(files.root, { RUNTIME_ENV: "other", WHERE: "/w" })).toBe("/w/x");
  });

  it.each(["", "db_path: [", "- db_path\n", "db_path: ''\n", "# db_path: x\n", "null # db_path\n"])(
    "has its default where %j says nothing of it",
    async (text) => {
      await using files = await projectFiles({ "runtime.yaml": text });
      expect(findDataDirectory(files.root, {})).toBe(join(files.root, ".forge", "data"));
    },
  );

  it.each(["store", '"st ore"', "'st#ore'", "a#b # comment", "../x", "postgres://me@db/x", "C # d", "~/x"])(
    "is the same for whoever loads the configuration: %s",
    async (written) => {
      await using files = await projectFiles({ "runtime.yaml": `a: 1\ndb_path: ${written}\n` });
      expect((await openProject(files.root, {})).dataDir).toBe(findDataDirectory(files.root, {}));
    },
  );

  it.each(["{db_path: store}", "db_path: |\n  store", "db_path:\n  store", '"db_path": store', 'db_path: "s\\u0074ore"'])(
    "is refused where the two would not agree: %j",
    async (text) => {
      await using files = await projectFiles({ "runtime.yaml": text });
      await expect(openProject(files.root, {})).rejects.toMatchObject({
        reason: "CONFIG_VALIDATION",
        message: expect.stringMatching(/runtime\.yaml:\d+:\d+: db_path has to be/),
      });
    },
  );

  it("is no file that is there already, unless that was a database's", async () => {
    await using files = await projectFiles({ "runtime.yaml": "db_path: notes.txt\n", "notes.txt": "x", "old.db": "" });
    await expect(openProject(files.root, {})).rejects.toMatchObject({ message: expect.stringMatching(/runtime\.yaml:1:1: db_path: .*notes\.txt is a file/) });
    await writeFile(join(files.root, "runtime.yaml"), "db_path: old.db\n");
    expect((await openProject(files.root, {})).dataDir).toBe(join(files.root, "old.db.forge"));
  });

  it("has its default where there is no configuration", async () => {
    await using files = await projectFiles({});
    expect(findDataDirectory(files.root, {})).toBe(join(files.root, ".forge", "data"));
  });
});
