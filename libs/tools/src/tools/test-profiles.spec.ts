import { expect, test } from "vitest";
import { parseTestProfiles } from "./test-profiles.ts";

test("reads what is written, with its defaults", () => {
  const source = `
[profiles.unit]
command = ["npm", "test"]

[profiles.lint]
command = ["npx", "biome", "check"]
description = "Looks for mistakes."
timeout_seconds = 30
env = { CI = "1" }
cwd = "libs"
allow_args = true
`;
  expect(parseTestProfiles(source)).toEqual([
    { name: "unit", command: ["npm", "test"], description: "", timeoutSeconds: 600, environment: {}, cwd: ".", allowArguments: false },
    {
      name: "lint",
      command: ["npx", "biome", "check"],
      description: "Looks for mistakes.",
      timeoutSeconds: 30,
      environment: { CI: "1" },
      cwd: "libs",
      allowArguments: true,
    },
  ]);
  expect(parseTestProfiles("")).toEqual([]);
});

test.each([
  ['[profiles.unit]\ncommand = ["x"', 2, "column"],
  ['[profiles.unit]\ncommand = "npm test"', 2, "command must be array"],
  ["[profiles.unit]\ndescription = 'x'", 1, "command"],
  ['# x\n[profiles.unit]\ncommand = ["x"]\nshell = true', 4, "shell"],
  ['[profiles.a]\ncommand = ["x"]\n[profiles.b]\ncommand = []', 4, "command must NOT have fewer than 1"],
  ['[profiles.a]\ncommand = [""]', 2, "begins with a program"],
  ['[profiles.a]\ncommand = ["x"]\ntimeout_seconds = 99999', 3, "timeout_seconds"],
  ['[profiles."a b"]\ncommand = ["x"]', 1, "is no name"],
  ['x = 1\n[profiles.a]\ncommand = ["x"]', 1, "x is not known"],
  ["profiles = 1", 1, "profiles are tables"],
])("%j is refused, with its line", (source, line, words) => {
  let error: unknown;
  try {
    parseTestProfiles(source);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ reason: "TEST_PROFILES", detail: { metadata: { file: ".forge/tests.toml", line: String(line) } } });
  if (words !== "column") expect((error as Error).message).toContain(words);
  expect((error as Error).message).not.toContain("arguments");
});
