import { durationMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { Decision } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import { parseConfig } from "./load-config.ts";
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
