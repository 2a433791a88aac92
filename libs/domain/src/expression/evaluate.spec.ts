import type { JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluate, evaluateCondition } from "./evaluate.ts";
import { parseExpression } from "./parse.ts";
import type { TextError } from "./result.ts";

const state = {
  inputs: { issue: "Login fails 😀", tags: ["ui", "auth"], empty: "" },
  steps: { triage: { severity: "high", score: 7, flaky: false, owner: null, files: [{ name: "a.ts" }] } },
};

function run(text: string, scope: Record<string, unknown> = { state }): JsonValue {
  const parsed = parseExpression(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.error.message} at ${parsed.error.position}`);
  const result = evaluate(parsed.value, scope);
  if (!result.ok) throw new Error(`${text}: ${result.error.message} at ${result.error.position}`);
  return result.value;
}

function fail(text: string, scope: Record<string, unknown> = { state }): TextError {
  const parsed = parseExpression(text);
  if (!parsed.ok) return parsed.error;
  const result = evaluate(parsed.value, scope);
  if (result.ok) throw new Error(`${text} gives ${JSON.stringify(result.value)}`);
  return result.error;
}

describe("evaluate", () => {
  it.each<[string, JsonValue]>([
    // What Python 3 answers to the same text, checked there.
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["-2 ** 2", -4],
    ["2 ** -1", 0.5],
    ["2 ** 3 ** 2", 512],
    ["-7 // 2", -4],
    ["-7 % 3", 2],
    ["7 % -3", -2],
    ["10 - 3 - 2", 5],
    ["True + 1", 2],
    ["True == 1", true],
    ["1 == 1.0", true],
    ["'1' == 1", false],
    ["[1, [2, 'x']] == [1, [2, \"x\"]]", true],
    ["1 < 2 < 3", true],
    ["3 > 2 > 2", false],
    ["1 < 3 > 2", true],
    ["not 1 == 2", true],
    ["not True or True", true],
    ["not (True or True)", false],
    ["True or 1 / 0", true],
    ["False and 1 / 0", false],
    ["0 or 'x'", "x"],
    ["1 and 'x'", "x"],
    ["[] or ''", ""],
    ["'b' in ['a', 'b']", true],
    ["'c' not   in ['a', 'b']", true],
    ["not 'c' in ['a', 'b']", true],
    ["'ell' in 'hello'", true],
    ["'a' in ('ab',)", false],
    ["'a' in ('ab')", true],
    ["None is None", true],
    ["0 is not None", true],
    ["null is None", true],
    ["[1, 2] + [3]", [1, 2, 3]],
    ["'ab' * 3", "ababab"],
    ["2 * [1]", [1, 1]],
    ["'a' * -1", ""],
    ["[1, 2] < [1, 3]", true],
    ["[1] < [1, 0]", true],
    ["'a' < 'b'", true],
    ["'\uffff' < '\u{10000}'", true],
    ["[10, 20, 30][-1]", 30],
    ["'h😀llo'[2]", "l"],
    ["len('h😀llo')", 5],
    ["len([1, 2])", 2],
    ["min(3, 1, 2)", 1],
    ["max([3, 1, 2])", 3],
    ["max('a', 'b')", "b"],
    ["abs(-3)", 3],
    ["'  x '.strip()", "x"],
    ["'xxaxx'.strip('x')", "a"],
    ["'xxaxx'.lstrip('x')", "axx"],
    ["'xxaxx'.rstrip('x')", "xxa"],
    ["'😀a😀'.strip('😀')", "a"],
    ["'Ab'.lower()", "ab"],
    ["'Ab'.upper()", "AB"],
    ["'abc'.startswith('b', 1)", true],
    ["'abc'.startswith(('x', 'a'))", true],
    ["'abc'.endswith('bc')", true],
    ["' a  b '.split()", ["a", "b"]],
    ["' a  b  c '.split(None, 1)", ["a", "b  c "]],
    ["'a,b,,c'.split(',')", ["a", "b", "", "c"]],
    ["'a,b,c'.split(',', 1)", ["a", "b,c"]],
    ["', '.join(['a', 'b'])", "a, b"],
    ["'aaa'.replace('a', 'b', 2)", "bba"],
    ["'h😀llo'.find('l')", 2],
    ["'hello'.find('l', 3)", 3],
    ["'hello'.find('z')", -1],
    ["'banana'.count('an')", 2],
    ["'abc'.count('')", 4],
    ["'it\\'s'", "it's"],
  ])("%s is %j", (text, expected) => {
    expect(run(text)).toStrictEqual(expected);
  });

  it.each<[string, JsonValue]>([
    ["state.steps.triage.severity", "high"],
    ["state['steps']['triage'].score >= 7", true],
    ["state.steps.triage.files[0].name", "a.ts"],
    ["state.inputs.issue.lower().startswith('login')", true],
    ["'triage' in state.steps", true],
    ["'review' in state.steps and state.steps.review.ok", false],
    ["state.steps.triage.owner is None", true],
    ["state.steps.triage.severity in ['high', 'critical'] and not state.steps.triage.flaky", true],
    ["len(state.inputs.tags)", 2],
  ])("reads the state: %s", (text, expected) => {
    expect(run(text)).toStrictEqual(expected);
  });

  it.each<[string, string, number]>([
    ["state.steps.review.ok", "no key `review`", 12],
    ["state.steps.triage.severity.x", "string has no `x`", 28],
    ["other == 1", "unknown name `other`", 0],
    ["1 + 'a'", "can't calculate number + string", 2],
    ["1 < 'a'", "can't order number and string", 4],
    ["state.steps < 1", "can't order mapping and number", 14],
    ["None < 1", "can't order null and number", 7],
    ["1 / 0", "division by zero", 2],
    ["1 % 0", "division by zero", 2],
    ["'a' * 10 ** 9", "the result is longer than 16777216 characters", 4],
    ["[1] * 10 ** 9", "the result has more than 100000 items", 4],
    ["10.0 ** 400", "the result is not a finite number", 5],
    ["(-8) ** 0.5", "the result is not a finite number", 5],
    ["[1][1]", "no item 1; there are 1", 4],
    ["[1]['length']", "an index must be a whole number, not string", 4],
    ["'abc'[-4]", "no item -4; there are 3", 6],
    ["min([])", "min of an empty list", 0],
    ["max(1)", "max of one value needs a list, not number", 0],
    ["len(1)", "len needs a string, list or mapping, not number", 0],
    ["abs('a')", "abs needs a number, not string", 0],
    ["state.inputs.tags.lower()", "`lower` needs a string before it, not list", 18],
    ["', '.join([1])", "expected a string, not number", 5],
    ["'a'.split('')", "an empty separator", 4],
    ["'a' in 1", "`in` needs a string, list or mapping, not number", 7],
    ["1 in 'a'", "`in` a string needs a string, not number", 5],
    ["-'a'", "`-` needs a number, not string", 0],
    ["state.inputs['__proto__']", "the name `__proto__` is not allowed", 13],
    ["state['con' + 'structor']", "the name `constructor` is not allowed", 12],
    ["'x' in state.inputs.toString", "no key `toString`", 20],
  ])("%s fails: %s at %i", (text, message, position) => {
    expect(fail(text)).toStrictEqual({ message, position });
  });

  it("never runs an accessor, and refuses what is not JSON", () => {
    let ran = false;
    const hostile = {
      get trap(): number {
        ran = true;
        return 1;
      },
    };
    expect(fail("x.trap", { x: hostile }).message).toBe("no key `trap`");
    expect(ran).toBe(false);
    for (const value of [() => 1, new Map(), new Date(0), Number.NaN, undefined, 1n, Symbol("s")]) {
      expect(fail("x.y", { x: { y: value } }).message).toBe("`y` is not a JSON value");
      expect(fail("x == 1", { x: value }).message).toBe("`x` is not a JSON value");
    }
  });

  it("reads own keys only, also one called __proto__ that JSON made", () => {
    const inherited = Object.create({ secret: 1 }) as object;
    expect(fail("x.secret", { x: Object.assign(Object.create(null) as object, { y: 1 }) }).message).toBe("no key `secret`");
    expect(fail("x.secret", { x: inherited }).message).toBe("`x` is not a JSON value");
    expect(fail("x['__proto__']", { x: JSON.parse('{"__proto__": {"a": 1}}') }).message).toBe("the name `__proto__` is not allowed");
    expect(run("'toString' in x", { x: {} })).toBe(false);
  });

  it("ends when there is too much to do", () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => [index]);
    expect(fail("x == x and x == x and x == x and x == x", { x: rows }).message).toBe("the expression does too much work");
    const text = "a".repeat(16_000_000);
    expect(fail("'b' in x or 'c' in x or 'd' in x", { x: text }).message).toBe("the expression does too much work");
    let deep: JsonValue = 1;
    for (let depth = 0; depth < 1000; depth++) deep = [deep];
    expect(fail("x == y", { x: deep, y: structuredClone(deep) }).message).toBe("values nested deeper than 200 can't be compared");
  });

  it("ends where a search of texts would take hours, and lets ordinary ones through", () => {
    const text = "a".repeat(1_000_000);
    const part = `${"a".repeat(200_000)}b${"a".repeat(200_000)}`;
    for (const search of ["y in x", "x.find(y)", "x.count(y)", "x.replace(y, '')", "x.split(y)"]) {
      expect(fail(search, { x: text, y: part }).message).toBe("the expression does too much work");
    }
    expect(run("x.count('aa')", { x: text })).toBe(500_000);
    expect(run("len(x.replace('a', '$&'))", { x: text.slice(0, 100_000) })).toBe(200_000);
    expect(run("y in x", { x: `${text}needle`, y: "needle" })).toBe(true);
  });

  it("gives a condition Python's truth", () => {
    const truth = (text: string): unknown => {
      const parsed = parseExpression(text);
      return parsed.ok ? evaluateCondition(parsed.value, { state }) : parsed;
    };
    for (const text of ["0", "''", "[]", "None", "False", "state.inputs.empty"]) expect(truth(text)).toStrictEqual({ ok: true, value: false });
    for (const text of ["1", "'0'", "[0]", "True", "state"]) expect(truth(text)).toStrictEqual({ ok: true, value: true });
  });
});

describe("evaluate, whatever the text", () => {
  const words = fc.constantFrom(
    ..."state steps inputs a len min max abs and or not in is None True ( ) [ ] . , + - * / // % ** == < >= 'x' \"y\" 1 2.5 10 __proto__ constructor toString".split(
      " ",
    ),
    ..."lower upper strip split join replace find count startswith . ( ) ' ' if for lambda = ! && ? : { } \\ \u0000 é 😀".split(" "),
  );
  const texts = fc.oneof(
    fc.array(words, { maxLength: 30 }).map((list) => list.join(" ")),
    fc.array(words, { maxLength: 30 }).map((list) => list.join("")),
    fc.string({ maxLength: 200 }),
  );

  it("answers with a value or an error inside the text, and only JSON comes out", () => {
    fc.assert(
      fc.property(texts, fc.jsonValue(), (text, value) => {
        const parsed = parseExpression(text);
        const result = parsed.ok ? evaluate(parsed.value, { state, a: value }) : parsed;
        if (!result.ok) {
          expect(result.error.position).toBeGreaterThanOrEqual(0);
          expect(result.error.position).toBeLessThanOrEqual(text.length);
          return;
        }
        const json = JSON.stringify(result.value);
        expect(JSON.stringify(JSON.parse(json))).toBe(json);
      }),
      { numRuns: 3000 },
    );
  });

  it("never changes the state that it reads", () => {
    const before = JSON.stringify(state);
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseExpression(text);
        if (parsed.ok) evaluate(parsed.value, { state });
        return JSON.stringify(state) === before && !("polluted" in {});
      }),
    );
  });

  it("compares JSON values reflexively and symmetrically", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(run("a == b", { a, b })).toBe(run("b == a", { a, b }));
        expect(run("a == b", { a, b: structuredClone(a) })).toBe(true);
        expect(run("a in [b]", { a, b })).toBe(run("not a != b", { a, b }));
      }),
    );
  });
});
