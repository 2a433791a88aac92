import { ForgeError } from "@forge/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseWorkflow } from "../definition/parse-workflow.ts";
import { noAgents } from "../testing/agents.ts";

function problems(text: string): string[] {
  try {
    parseWorkflow(text, { file: "w.yaml", agents: noAgents });
  } catch (error) {
    if (error instanceof ForgeError) return error.message.replaceAll("w.yaml:", "").split("\n");
    throw error;
  }
  return [];
}

const VALID = "workflow: {id: w, version: v1}\nsteps:\n  - id: a\n    type: tool\n    tool: t\n";

describe("hostile YAML", () => {
  it.each<[string, string, string[]]>([
    ["a tab in the indentation", "workflow:\n\tid: w\n", ["2:1: a tab in the indentation; YAML is indented with spaces only"]],
    ["a duplicate key", `${VALID}    tool: u\n`, ["6:5: duplicate key `tool` in a step"]],
    ["a duplicate key at the top", `${VALID}steps: []\n`, ["6:1: duplicate key `steps` in the workflow file"]],
    ["a second document", `${VALID}---\na: 1\n`, ["6:1: a second document (`---`); expected one"]],
    ["a foreign tag", `${VALID}    inputs: {x: !!python/object:os.system ls}\n`, ["6:17: Unresolved tag: tag:yaml.org,2002:python/object:os.system"]],
    ["bytes", `${VALID}    inputs: {x: !!binary aGk=}\n`, ["6:26: the tag tag:yaml.org,2002:binary is not allowed; expected a plain value"]],
    ["an alias of nothing", `${VALID}    inputs: {x: *y}\n`, ["6:17: unknown alias `y`; there are none"]],
    ["a merge key", `${VALID}    <<: {timeout: 1}\n`, ["6:5: merge keys (`<<`) are not supported; write the keys out"]],
    ["a mapping as a key", `${VALID}    ? {a: 1}\n    : 2\n`, ["6:7: a key of a step that is no text; put it in quotes"]],
    ["a cycle", `${VALID}    inputs: {x: &x [*x]}\n`, ["6:21: input x is nested deeper than 64"]],
    ["half a surrogate pair", `${VALID}    inputs: {x: "\\ud800"}\n`, ["6:17: input x holds a NUL or half a surrogate pair, which can't be stored"]],
    ["a NUL", `${VALID}    inputs: {x: "a\\0b"}\n`, ["6:17: input x holds a NUL or half a surrogate pair, which can't be stored"]],
    ["an id of the language", VALID.replace("id: a", "id: __proto__"), ["3:9: step id `__proto__` is no valid name; expected letters, digits, `_` and `-`"]],
    ["a need of the language", `${VALID}    needs: [__proto__]\n`, ["6:13: unknown step in needs of step a `__proto__`; expected a"]],
    ["ids with a dot", VALID.replace("id: a", "id: a.b"), ["3:9: step id `a.b` is no valid name; expected letters, digits, `_` and `-`"]],
    ["ids with a slash", VALID.replace("id: a", "id: a/../b"), ["3:9: step id `a/../b` is no valid name; expected letters, digits, `_` and `-`"]],
    ["ids with a space", VALID.replace("id: a", "id: 'a b'"), ["3:9: step id `a b` is no valid name; expected letters, digits, `_` and `-`"]],
    [
      "a country where true or false belongs",
      `${VALID.replace("tool\n    tool: t", "function\n    function: m.f")}    idempotent: no\n`,
      ["6:17: idempotent is the text `no`; expected true or false"],
    ],
    [
      "anchors that expand to a billion",
      `${VALID}    inputs:\n      a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 7 }, (_, index) => `      a${index + 1}: &a${index + 1} [${`*a${index}, `.repeat(10)}]`).join("\n")}\n`,
      [
        "11:15: input a4 has 422221 bytes of JSON; at most 65536 are allowed",
        "7:28: more than 1000000 values; aliases repeat too much",
        "12:15: input a5 has 3330868 bytes of JSON; at most 65536 are allowed",
      ],
    ],
    [
      "a tab and Windows line ends behind a byte order mark",
      "\uFEFFworkflow:\r\n\tid: w\r\n",
      ["2:1: a tab in the indentation; YAML is indented with spaces only"],
    ],
    ["an open quote", "workflow: 'x", ["1:13: Missing closing 'quote"]],
  ])("refuses %s", (_name, text, expected) => {
    expect(problems(text)).toStrictEqual(expected);
  });

  it("takes Windows line ends, a byte order mark, anchors, and words that other versions read as booleans", () => {
    const text = `\uFEFF%YAML 1.1\r\n---\r\n${VALID.replaceAll("\n", "\r\n")}    inputs: &i {country: no, on: off, date: 2020-01-01}\r\n  - {id: b, type: tool, tool: t, inputs: *i}\r\n`;
    const { definition } = parseWorkflow(text, { file: "w.yaml", agents: noAgents });
    expect(definition.steps[1]?.inputs["country"]?.kind).toStrictEqual({ case: "literalJson", value: '"no"' });
    expect(definition.steps[1]?.inputs["date"]?.kind).toStrictEqual({ case: "literalJson", value: '"2020-01-01"' });
    expect(problems(text.replace("tool: t\r\n", "tol: t\r\n"))[0]).toBe("6:5: step a names no tool; expected `tool: <name>`");
  });

  it.each<[string, string]>([
    [
      "a billion laughs",
      `${VALID}    inputs:\n      a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 9 }, (_, index) => `      a${index + 1}: &a${index + 1} [${`*a${index}, `.repeat(10)}]`).join("\n")}\n`,
    ],
    ["steps that are one step a million times", `workflow: {id: w, version: v1}\na: &s {id: a, type: tool, tool: t}\nsteps: [${"*s,".repeat(9000)}]\n`],
    ["many brackets", `steps: ${"[".repeat(50_000)}`],
    ["many braces", `steps: ${"{a: ".repeat(30_000)}`],
    ["many dashes", `steps:\n${"- ".repeat(50_000)}`],
    ["a mapping of many keys", `steps:\n${Array.from({ length: 40_000 }, (_, index) => `  k${index}: 1`).join("\n")}`],
    [
      "many problems",
      `workflow: {id: w, version: v1}\nsteps:\n${Array.from({ length: 5000 }, (_, index) => `  - {id: s${index}, type: tool, tool: t, next: [{when: "x", goto: nowhere${index}}]}`).join("\n")}`,
    ],
    ["many anchors", `steps:\n${Array.from({ length: 20_000 }, (_, index) => `  - &a${index} x`).join("\n")}`],
  ])("ends quickly with %s, and says little", (_name, text) => {
    const started = performance.now();
    const lines = problems(text);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThanOrEqual(21);
    expect(lines.join("\n").length).toBeLessThanOrEqual(4096);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it("answers with a ForgeError or a definition, whatever the text", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "workflow:",
        "steps:",
        "- ",
        "id: a",
        "type: tool",
        "tool: t",
        "inputs:",
        "next:",
        "\n",
        "  ",
        "{",
        "}",
        "[",
        "]",
        "&a ",
        "*a ",
        "? ",
        ": ",
        "|\n",
        ">\n",
        "'",
        '"',
        "!!str ",
        "<<: ",
        "\t",
        "\r\n",
        "---\n",
        "__proto__: ",
        "{{ x }}",
      ),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), (pieces, isAfterValid) => {
        problems((isAfterValid ? VALID : "") + pieces.join(""));
        expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
