import { expect, it } from "vitest";
import { javascriptNames } from "./javascript-names.ts";
import { pythonNames } from "./python-names.ts";

it("sees what a module of Python binds at its top level", () => {
  const text = `\uFEFF"""def in_text(inputs): ..."""
from __future__ import annotations
from helpers import (
    first,
    second as renamed,  # def in_comment
)
import json
if True:
\tdef conditional(inputs):
\t\tdef inner(inputs): ...
else:
\tconditional = None
try:
    from quick import fast
except ImportError:
    fast = None
class Shape:
    def method(self): ...
async \\
  def later(inputs): ...
text = '''
def in_long_text(inputs): ...
'''
short = lambda inputs: {"a": [
  1]}
compare == 3
def plain(inputs): return {'a': "it's # no comment"}
def _hidden(inputs): ...
def last(
    inputs):
    def inner(x): ...
`;
  expect(pythonNames(text)).toEqual({
    names: ["annotations", "first", "renamed", "conditional", "fast", "later", "text", "short", "plain", "last"],
    isOpen: false,
  });
});

it.each(["from helpers import *", "def __getattr__(name): ...", "globals()['f'] = 1", "setattr(module, 'f', 1)"])(
  "can't know all of what `%s` binds",
  (text) => {
    expect(pythonNames(text).isOpen).toBe(true);
  },
);

it.each(["", '"""', "'a\n", "def", "((((", "\\", "\t\t\tdef f(x): ..."])("reads %j to its end", (text) => {
  expect(pythonNames(text).names).toEqual([]);
});

it("reads a large file in a moment", () => {
  const startedAt = performance.now();
  expect(pythonNames(`${'x = """'.repeat(1)}${'a\\"'.repeat(150_000)}`).names).toEqual(["x"]);
  expect(pythonNames("def f(x): return {}\n".repeat(40_000)).names).toEqual(["f"]);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

it("sees what a module of JavaScript exports", () => {
  const text = `
export function one() {}
export async function two() {}
export function* three() {}
export const four = () => {}, five = 5;
export let six: Six = 6;
function seven() {}
export { seven, eight as nine, type Ten };
export default function () {}
export class Shape {}
export function _hidden() {}
`;
  expect(javascriptNames(text).names.toSorted()).toEqual(["Ten", "five", "four", "nine", "one", "seven", "six", "three", "two"].toSorted());
  expect(javascriptNames(text).isOpen).toBe(false);
});

it.each(["export * from './other.ts'", "export const { a, b } = make();", "exports.f = 1", "module.exports = {}"])(
  "can't know all of what `%s` exports",
  (text) => {
    expect(javascriptNames(text).isOpen).toBe(true);
  },
);
