import { durationMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { Decision } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import { projectFiles } from "../testing/project-files.ts";
import { explainConfig } from "./explain-config.ts";
import { loadConfig, parseConfig } from "./load-config.ts";
import { toolPolicy } from "./tool-policy.ts";

function problems(text: string): string[] {
  try {
    parseConfig(text, "runtime.yaml");
  } catch (error) {
    if (error instanceof ForgeError) return [error.reason, ...error.message.replaceAll("runtime.yaml:", "").split("\n")];
    throw error;
  }
  return [];
}

describe("parseConfig", () => {
  it("fills in defaults", () => {
    for (const text of ["", "# nothing\n", "{}"]) {
      expect(parseConfig(text, "runtime.yaml")).toMatchObject({
        config: {
          workflows_dir: "workflows",
          agents_dir: "agents",
          functions_dir: "functions",
          tools_dir: "tools",
          overwrite_policy: "warn",
          logging: { level: "info" },
        },
        warnings: [],
      });
    }
  });

  it("reads providers and the policy of tools", () => {
    const { config } = parseConfig(
      `
llm:
  providers:
    openai: {api_key_env: OPENAI_API_KEY, base_url: "http://127.0.0.1:11434/v1", models: {gpt-5: {temperature: 0.2}}}
policy:
  rules: [{tool: tools.search, decision: allow}, {tool: "tools.*", decision: ask}]
  default: deny
  approval_ttl: 2h
`,
      "runtime.yaml",
    );
    expect(config.llm.providers["openai"]?.base_url).toBe("http://127.0.0.1:11434/v1");
    const policy = toolPolicy(config);
    expect(policy.rules.map(({ tool, decision }) => [tool, decision])).toStrictEqual([
      ["tools.search", Decision.ALLOW],
      ["tools.*", Decision.ASK],
    ]);
    expect(policy.defaultDecision).toBe(Decision.DENY);
    expect(policy.approvalTtl && durationMs(policy.approvalTtl)).toBe(7_200_000);
    expect(toolPolicy(parseConfig("", "runtime.yaml").config).defaultDecision).toBeUndefined();
  });

  it("warns of keys that it does not know, and leaves them out", () => {
    const { config, warnings } = parseConfig("workflow_dir: w\npolicy:\n  defualt: deny\nagents_dir: a\n", "runtime.yaml");
    expect(warnings).toStrictEqual([
      expect.stringMatching(/^runtime\.yaml:3:3: unknown key `defualt`; expected one of rules, default, approval_ttl; did you mean `default`\?$/),
      expect.stringMatching(/^runtime\.yaml:1:1: unknown key `workflow_dir`; expected one of .*; did you mean `workflows_dir`\?$/),
    ]);
    expect(config).toMatchObject({ workflows_dir: "workflows", agents_dir: "a" });
  });

  it("refuses wrong values, each at its place", () => {
    expect(problems("workflows_dir: 3\npolicy:\n  rules:\n    - {tool: tools.x, decision: alow}\n  approval_ttl: soon\n")).toStrictEqual([
      "CONFIG_VALIDATION",
      expect.stringMatching(/^1:16: workflows_dir: /),
      expect.stringMatching(/^4:33: policy\.rules\.0\.decision: /),
      expect.stringMatching(/^5:17: policy\.approval_ttl: /),
    ]);
    expect(problems("a: 1\na: 2\n")).toStrictEqual(["CONFIG_VALIDATION", "2:1: duplicate key `a` in the configuration"]);
    expect(problems("- a\n")[1]).toMatch(/^1:1: the configuration: /);
    expect(problems("a: [\n")).toHaveLength(2);
  });
});

describe("fields that may be written in two ways", () => {
  const nested = `
memory: {working: {max_entries: 7, max_scratch_bytes: 8}, episodic: {max_summary_bytes: 9}}
shell: {allowlist: [git], denylist: [rm]}
llm_limits: {rate_limit_rpm: 3}
`;

  it("have one name once they are read, and the place where they are written", () => {
    const { config, placeOf, warnings } = parseConfig(nested, "runtime.yaml");
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      working_memory_max_entries: 7,
      working_memory_max_scratch_bytes: 8,
      episodic_max_summary_bytes: 9,
      shell_allowlist: ["git"],
      shell_denylist: ["rm"],
      llm: { limits: { rate_limit_rpm: 3 } },
    });
    expect(config).not.toHaveProperty("memory");
    expect(placeOf("working_memory_max_entries")).toEqual({ file: "runtime.yaml", line: 2, column: 20 });
    expect(placeOf("shell_denylist")).toMatchObject({ line: 3 });
    expect(placeOf("overwrite_policy")).toBeUndefined();
  });

  it("count by the first of them where both are written, also as the default says", () => {
    const { config, placeOf } = parseConfig(`working_memory_max_entries: 50\nshell_allowlist: []${nested}`, "runtime.yaml");
    expect(config).toMatchObject({ working_memory_max_entries: 50, shell_allowlist: [] });
    expect(placeOf("working_memory_max_entries")).toMatchObject({ line: 1 });
  });

  it("are checked where they stand", () => {
    expect(problems("shell: {allowlist: ['(']}\n")).toStrictEqual([
      "CONFIG_VALIDATION",
      expect.stringMatching(/^1:21: shell\.allowlist\.0: expected a regular/),
    ]);
    expect(problems("memory:\n  working: {max_entries: -1}\n")[1]).toMatch(/^2:26: memory\.working\.max_entries: /);
  });
});

describe("a configuration of several files and of the environment", () => {
  it("has the environment's variables in its texts, and leaves what is not set", () => {
    const { config } = parseConfig('db_path: ${STORE}/data\ndefault_model: ${NOBODY}/x\nllm: {providers: {openai: {api_key_env: "A${B}"}}}\n', "f", {
      STORE: "/s",
      B: "$&",
    });
    expect(config).toMatchObject({ db_path: "/s/data", default_model: "${NOBODY}/x" });
    expect(config.llm.providers["openai"]?.api_key_env).toBe("A$&");
  });

  it("takes the file that RUNTIME_ENV names over the other one, key by key", async () => {
    await using files = await projectFiles({
      "runtime.yaml": "default_model: demo/chat\nlogging: {level: debug, format: text}\n",
      "runtime.prod.yaml": "\nlogging: {level: error}\n",
    });
    const { config, placeOf } = await loadConfig(files.root, { RUNTIME_ENV: "prod" });
    expect(config).toMatchObject({ default_model: "demo/chat", logging: { level: "error", format: "text" } });
    expect(placeOf("logging.level")).toEqual({ file: `${files.root}/runtime.prod.yaml`, line: 2, column: 11 });
    expect(placeOf("logging.format")).toMatchObject({ file: `${files.root}/runtime.yaml`, line: 2 });
    expect((await loadConfig(files.root, { RUNTIME_ENV: "dev" })).config.logging.level).toBe("debug");
    await expect(loadConfig(files.root, { RUNTIME_ENV: "../x" })).rejects.toMatchObject({ reason: "CONFIG_VALIDATION" });
  });
});

describe("explainConfig", () => {
  const explain = (text: string, overrides = {}) => new Map(explainConfig(parseConfig(text, "runtime.yaml"), overrides).map((field) => [field.name, field]));

  it("tells every field, its value and where that comes from", () => {
    const fields = explain("workflows_dir: flows\nllm:\n  providers:\n    openai: {base_url: 'http://u:p@127.0.0.1/v1'}\n");
    expect(fields.get("workflows_dir")).toEqual({
      name: "workflows_dir",
      value: "flows",
      origin: { kind: "file", file: "runtime.yaml", line: 1, column: 1 },
      isUsed: true,
    });
    expect(fields.get("agents_dir")).toMatchObject({ value: "agents", origin: { kind: "default" } });
    expect(fields.get("llm.providers.openai.base_url")).toMatchObject({ value: "http://u:***@127.0.0.1/v1", origin: { kind: "file", line: 4 } });
    for (const name of [
      "db_path",
      "default_llm_provider",
      "logging.level",
      "overwrite_policy",
      "shell_allowlist",
      "working_memory_max_entries",
      "custom_handler",
    ])
      expect(fields.has(name), name).toBe(true);
  });

  it("shows no key, whatever it belongs to and however it came there", () => {
    const fields = explain("llm: {providers: {anthropic: {api_key: sk-1, api_key_env: NAME}}}\nmodel: {access_token: t}\n", {
      "llm.token": { value: "t", origin: { kind: "flag", name: "--token" } },
    });
    expect([...fields.values()].filter(({ name }) => /(?:key|token)$/.test(name)).map(({ value }) => value)).toEqual(["(set)", "(set)", "(set)"]);
    expect(fields.get("llm.providers.anthropic.api_key_env")).toMatchObject({ value: "NAME" });
  });

  it("says of a field that nothing looks at it yet", () => {
    const fields = explain(
      "llm: {providers: {anthropic: {api_key_env: A}, openai: {api_key_env: B, models: {m: {temperature: 1}}}}}\nmodel: {temperature: 1}\n",
    );
    const unused = Array.from(fields.values()).filter(({ isUsed }) => !isUsed);
    expect(unused.map(({ name }) => name)).toEqual([
      "custom_handler",
      "episodic_max_summary_bytes",
      "llm.limits",
      "llm.providers.anthropic.api_key_env",
      "model.temperature",
      "working_memory_max_entries",
      "working_memory_max_scratch_bytes",
    ]);
  });

  it("lets the environment win over the file, without passwords", () => {
    const override = { db_path: { value: "postgres://me:secret@db/forge?password=x", origin: { kind: "environment", name: "DATABASE_URL" } } };
    expect(explain("db_path: store\n", override).get("db_path")).toMatchObject({
      value: "postgres://me:***@db/forge?password=***",
      origin: { kind: "environment", name: "DATABASE_URL" },
    });
  });
});
