import jsep from "jsep";
import { describe, expect, it } from "vitest";
import { parseExpression } from "./parse.ts";
import { references } from "./references.ts";

function error(text: string): [string, number] {
  const parsed = parseExpression(text);
  if (parsed.ok) throw new Error(`${text} was accepted`);
  return [parsed.error.message, parsed.error.position];
}

describe("parseExpression", () => {
  it.each<[string, string, number]>([
    ["", "expected an expression, found nothing", 0],
    ["  ", "expected an expression, found nothing", 0],
    ["1 +", "expected an expression, found the end", 3],
    ["1 2", "unexpected `2`", 2],
    ["a b", "unexpected `b`", 2],
    ["a; b", "unexpected `;`", 1],
    ["a, b", "unexpected `,`", 1],
    ["(1", "expected an expression, found the end", 2],
    ["[1 2]", "unexpected `2`", 3],
    ["len(a b)", "unexpected `b`", 6],
    ["len(,)", "unexpected `,`", 4],
    ["a && b", "unexpected `&`: write `and`", 2],
    ["a || b", "unexpected `|`: write `or`", 2],
    ["!a", "unexpected `!`: write `not`", 0],
    ["a === b", "unexpected `=`: write `==` to compare; keyword arguments are not allowed", 4],
    ["a ? b : c", "unexpected `?`: conditional expressions are not allowed", 2],
    ["1 if a else 2", "unexpected `if`: conditional expressions are not allowed", 2],
    ["[x for x in y]", "unexpected `for`: comprehensions are not allowed", 3],
    ["lambda x: 1", "unexpected `x`", 7],
    ["max(a, key=1)", "unexpected `=`: write `==` to compare; keyword arguments are not allowed", 10],
    ["a[1", "expected an expression, found the end", 3],
    ["a.", "expected an expression, found the end", 2],
    ["a[1:2]", "unexpected `:`: slices, dictionaries and lambdas are not allowed", 3],
    ["{'a': 1}", "unexpected `{`: dictionaries and sets are not allowed; write a list", 0],
    ["a?.b", "`?.` is not allowed; a missing key is an error", 3],
    ["_a", "the name `_a` is not allowed", 0],
    ["state._a", "the name `_a` is not allowed", 6],
    ["state.__class__", "the name `__class__` is not allowed", 6],
    ["state.constructor", "the name `constructor` is not allowed", 6],
    ["state.prototype.x", "the name `prototype` is not allowed", 6],
    ["this.x", "unknown name `this`", 0],
    ["eval('1')", "unknown function `eval`", 0],
    ["state.x()", "unknown string method `x`", 6],
    ["'a'.constructor('x')", "unknown string method `constructor`", 4],
    ["state['lower']()", "only len, min, max, abs and string methods can be called", 6],
    ["len()", "`len` takes 1 argument, not 0", 0],
    ["'a'.split('b', 1, 2)", "`split` takes 0 to 2 arguments, not 3", 4],
    ["min()", "`min` takes at least 1 argument, not 0", 0],
    ["a is 1", "`is` compares with None, True or False only; write `==`", 5],
    ["1e999", "a number that JSON can't hold exactly", 0],
    ["9007199254740993", "a number that JSON can't hold exactly", 0],
    ["007", "a number with a leading zero", 0],
    ["'a\\x41'", "unknown escape in a string; \\n \\r \\t \\b \\f \\v \\\\ \\' \\\" are known", 0],
    ["$a", "`$` is not allowed in the name `$a`", 0],
    [" 'abc", 'Unclosed quote after "abc"', 5],
    ["`a`", "unexpected ```", 0],
    ["a << 1", "unexpected `<`", 2],
  ])("%j: %s at %i", (text, message, position) => {
    expect(error(text)).toStrictEqual([message, position]);
  });

  it("bounds size, nodes and depth, however the depth is made", () => {
    expect(error(`'${"é".repeat(2048)}'`)).toStrictEqual(["longer than 4096 bytes", 0]);
    expect(error(`[${"1,".repeat(600)}]`)[0]).toBe("more than 500 nodes");
    const deep = ["(", "[", "-", "!", "not ", "2**", "a[", "len("].map((part) => part.repeat(Math.floor(4000 / part.length)));
    for (const text of [...deep, `a${".b".repeat(2000)}`, "1+".repeat(100) + "1"]) expect(error(text)[0]).toMatch(/nested deeper than 50|unexpected `!`/);
    expect(parseExpression(Array.from({ length: 120 }, () => "a == 1").join(" or ")).ok).toBe(true);
  });

  it("leaves the library as it was for everybody else", () => {
    parseExpression("not a and b");
    expect(jsep.binary_ops).toHaveProperty("&&");
    expect(jsep.binary_ops).not.toHaveProperty("and");
    expect(jsep("a && b").type).toBe("BinaryExpression");
  });
});

describe("references", () => {
  function paths(text: string): string[] {
    const parsed = parseExpression(text);
    if (!parsed.ok) throw new Error(parsed.error.message);
    return references(parsed.value).map((reference) => reference.map(({ name, position }) => `${name}@${position}`).join("."));
  }

  it("names what is read and where each part stands", () => {
    expect(paths("state.steps.a.x == 1 and len(state['inputs'].b) > 0")).toStrictEqual(["state@0.steps@6.a@12.x@14", "state@29.inputs@35.b@45"]);
  });

  it("stops at what is only known later, and looks into it", () => {
    expect(paths("state.steps[state.inputs.which].x")).toStrictEqual(["state@0.steps@6", "state@12.inputs@18.which@25"]);
    expect(paths("state.inputs.title.lower() in [a, not b, -c, c < d < e]")).toStrictEqual([
      "state@0.inputs@6.title@13",
      "a@31",
      "b@38",
      "c@42",
      "c@45",
      "d@49",
      "e@53",
    ]);
  });
});
