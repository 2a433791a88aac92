import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderTemplate } from "./render-template.ts";
import { parseTemplate, templateReferences } from "./template.ts";

const scope = { inputs: { title: "Crash", n: 3, tags: ["a"], on: true, none: null, "new-lines": "x" }, steps: { "fetch-data": { items: [{ id: 7 }] } } };

describe("renderTemplate", () => {
  it.each([
    ["plain } text {", "plain } text {"],
    ["Title: {{ inputs.title }}!", "Title: Crash!"],
    ["{{inputs.n}}{{ inputs.on }}{{ inputs.none }}", "3truenull"],
    ["{{ inputs.tags }}", '["a"]'],
    ["{{ inputs.title.lower() + '}}' }}", "crash}}"],
    ['{{ "{{" }} literal', "{{ literal"],
    ["{{ steps.fetch-data.items.0.id }} {{ inputs.new-lines }}", "7 x"],
    ["{{ len(inputs.tags) > 0 and 'tagged' or 'none' }}", "tagged"],
    ["{{\n inputs.title \n}}", "Crash"],
    ["", ""],
  ])("%j gives %j", (text, expected) => {
    expect(renderTemplate(text, scope)).toStrictEqual({ ok: true, value: expected });
  });

  it.each<[string, string, number]>([
    ["a {{ inputs.titel }}", "no key `titel` in `inputs`", 12],
    ["a {{ other.x }}", "unknown name `other`", 5],
    ["a {{ other }}", "unknown name `other`", 5],
    ["a {{ inputs.n.x }}", "no key `x` in `inputs.n`", 14],
    ["a {{ 1 + }}", "expected an expression, found the end", 8],
    ["a {{ }}", "expected an expression, found nothing", 5],
    ["a {{ inputs.title", "`{{` without `}}`", 2],
    ["a {{ 'x }}", "`{{` without `}}`", 2],
    ["{{ inputs._secret }}", "the name `_secret` is not allowed", 10],
    ["{{ inputs.__proto__ }}", "the name `__proto__` is not allowed", 10],
    ["{{ inputs.constructor }}", "no key `constructor` in `inputs`", 10],
    ["x {{ inputs.n + inputs.title }}", "can't calculate number + string", 14],
  ])("%j fails: %s at %i", (text, message, position) => {
    expect(renderTemplate(text, scope)).toStrictEqual({ ok: false, error: { message, position } });
  });

  it("bounds what goes in and what comes out", () => {
    expect(renderTemplate("x".repeat(262_145), {})).toStrictEqual({ ok: false, error: { message: "longer than 262144 characters", position: 0 } });
    expect(renderTemplate("{{ a }}{{ a }}", { a: "x".repeat(200_000) })).toStrictEqual({
      ok: false,
      error: { message: "the text becomes longer than 262144 characters", position: 10 },
    });
    expect(renderTemplate("{{ a }}".repeat(1001), { a: "" })).toMatchObject({ ok: false, error: { message: "more than 1000 placeholders" } });
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    expect(renderTemplate("{{ a }}", { a: cycle })).toStrictEqual({ ok: false, error: { message: "not a JSON value", position: 3 } });
  });

  it("never throws, and leaves a text without braces as it is", () => {
    const part = fc.oneof(fc.constantFrom("{{", "}}", "{", "}", "inputs.title", "steps", ".", "'", '"', "\\", " "), fc.string());
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        const result = renderTemplate(text, scope);
        if (!text.includes("{{")) expect(result).toStrictEqual({ ok: true, value: text });
        else if (!result.ok) expect(result.error.position).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});

describe("templateReferences", () => {
  it("has offsets in the template, and tells paths from expressions", () => {
    const parsed = parseTemplate("a {{ steps.x.y }} {{ len(inputs.b) }}");
    if (!parsed.ok) throw new Error(parsed.error.message);
    expect(templateReferences(parsed.value)).toStrictEqual([
      {
        reference: [
          { name: "steps", position: 5 },
          { name: "x", position: 11 },
          { name: "y", position: 13 },
        ],
        exact: true,
      },
      {
        reference: [
          { name: "inputs", position: 25 },
          { name: "b", position: 32 },
        ],
        exact: false,
      },
    ]);
  });
});
