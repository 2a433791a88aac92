import { beforeAll, expect, it } from "vitest";
import { languageOf } from "./languages.ts";
import { SymbolParser } from "./symbol-parser.ts";
import { hashName } from "./symbols.ts";

let parser: SymbolParser;
beforeAll(async () => {
  parser = await SymbolParser.create();
});

async function definitions(file: string, text: string): Promise<string[]> {
  const language = languageOf(file);
  if (language === undefined) throw new Error(`${file} is of no known language`);
  return (await parser.parse(text, language)).definitions.map(({ line, name, isNested }) => `${line}${isNested ? "  " : " "}${name}`);
}

it.each([
  [
    "a.ts",
    'import x from "y";\nexport interface Shape {\n  area(): number;\n}\nexport abstract class Base {\n  abstract run(): void;\n  async go<T>(a: T) {\n    const local = 1;\n    return local;\n  }\n}\nexport const LIMIT = 3;\nexport type Id = string;\nenum Color { Red }\nfunction helper() {}\nnamespace N {}\ndeclare function outer(): void;\n',
    ["2 Shape", "5 Base", "6  run", "7  go", "12 LIMIT", "13 Id", "14 Color", "15 helper", "16 N", "17 outer"],
  ],
  ["a.tsx", "export function Button(props: Props) {\n  return <b>{props.x}</b>;\n}\n", ["1 Button"]],
  ["a.jsx", "class A {\n  static m() {}\n}\nconst f = () => <i/>;\nvar old = 1;\nfunction* g() {}\n", ["1 A", "2  m", "4 f", "5 old", "6 g"]],
  ["a.py", "LIMIT = 1\nclass A(B):\n    def m(self):\n        x = 1\n@decorated\nasync def f():\n    pass\n", ["1 LIMIT", "2 A", "3  m", "6 f"]],
  [
    "a.go",
    "package a\nconst Max = 1\nvar v int\ntype T struct{ x int }\ntype (\n\tU = T\n)\nfunc (t *T) M() {}\nfunc F() { var local int }\n",
    ["2 Max", "3 v", "4 T", "6  U", "8 M", "9 F"],
  ],
  [
    "a.rs",
    "pub struct S { x: i32 }\nimpl S {\n    pub fn m(&self) {}\n}\ntrait T { fn t(); }\nenum E { A }\nmacro_rules! mac { () => {} }\nconst C: i32 = 1;\nmod inner {}\n",
    ["1 S", "3  m", "5 T", "5 t", "6 E", "7 mac", "8 C", "9 inner"],
  ],
  [
    "A.java",
    "package a;\npublic class A {\n  A() {}\n  int m(int x) { return x; }\n}\ninterface I {}\nenum E { X }\nrecord R(int x) {}\n",
    ["2 A", "3  A", "4  m", "6 I", "7 E", "8 R"],
  ],
  [
    "a.c",
    "#define SQ(x) ((x)*(x))\ntypedef struct node { int v; } node_t;\nstatic int add(int a, int b) {\n  return a + b;\n}\nchar *name(void) { return 0; }\nint declared(int);\nenum e { A };\nstruct forward;\n",
    ["1 SQ", "2 node", "2 node_t", "3 add", "6 name", "7 declared", "8 e"],
  ],
  [
    "a.cpp",
    "namespace n {\nclass Foo : Bar {\n public:\n  void inside() {}\n  int declared();\n};\n}\nvoid n::Foo::outside() {}\nint &ref() { return x; }\n",
    ["1 n", "2 Foo", "4  inside", "5  declared", "8 outside", "9 ref"],
  ],
  ["a.cs", "class A {\n  public int P { get; set; }\n  void M() {}\n}\n", ["1 A", "2  P", "3  M"]],
  ["a.rb", "module M\n  class C\n    def m; end\n    def self.s; end\n  end\nend\n", ["1 M", "2  C", "3  m", "4  s"]],
  ["a.php", "<?php\nclass C {\n  function m() {}\n}\nfunction f() {}\n", ["2 C", "3  m", "5 f"]],
  ["a.sh", "f() {\n  echo\n}\n", ["1 f"]],
])("finds what %s defines", async (file, text, expected) => {
  expect(await definitions(file, text)).toEqual(expected);
});

it("keeps a definition's line, cut, and the names of the text by their hashes", async () => {
  const { definitions: found, references } = await parser.parse(
    `export function first(${"argument, ".repeat(40)}) {\n  return second("fourth"); // third\n}\n`,
    languageOf("a.ts") as never,
  );
  expect(found[0]?.signature).toMatch(/^export function first\(argument, .*…$/);
  expect(found[0]?.signature).toHaveLength(101);
  for (const name of ["first", "second"]) expect(references).toContain(hashName("js", name));
  for (const name of ["third", "fourth"]) expect(references).not.toContain(hashName("js", name));
});

it("finds what it can in text that is broken, and nothing in bundles", async () => {
  expect(await definitions("a.ts", "function ok() {}\nfunction broken( {{{{\n\u0001\ufffd class")).toContain("1 ok");
  expect(await definitions("a.js", `var a=1;${"x(function(){return 1});".repeat(1_000)}`)).toEqual([]);
});

it("stays within its time and goes on after a text that was made to be hard", async () => {
  const hurried = await SymbolParser.create(100);
  const long = "\n".repeat(5_000);
  for (const [file, text] of [
    ["a.ts", `${"(".repeat(200)}\n`.repeat(2_000)],
    ["a.cpp", "a<b<c<d\n".repeat(50_000)],
    ["a.ts", `${"/*".repeat(250_000)}${long}`],
    ["a.ts", `${'\\"'.repeat(250_000)}${long}`],
    ["a.py", `${'"""x'.repeat(100_001)}${long}`],
  ] as const) {
    const started = performance.now();
    await hurried.parse(text, languageOf(file) as never);
    expect(performance.now() - started, file).toBeLessThan(3_000);
  }
  for (const [file, text] of [
    ["a.ts", "function after() {}\n"],
    ["a.cpp", "int after() { return 1; }\n"],
  ] as const)
    expect((await parser.parse(text, languageOf(file) as never)).definitions.map(({ name }) => name)).toEqual(["after"]);
  expect((await hurried.parse("function after() {}\n", languageOf("a.ts") as never)).definitions).toHaveLength(1);
});

it("keeps a bounded number of definitions", async () => {
  expect(await definitions("a.ts", "class A { m() {} }\n".repeat(1_000))).toHaveLength(300);
});

it("knows what a program wrote", async () => {
  const isGenerated = async (text: string) => (await parser.parse(text, languageOf("a.ts") as never)).isGenerated;
  expect(await isGenerated("// @generated by protoc-gen-es\nexport const a = 1;\n")).toBe(true);
  expect(await isGenerated("// Code generated by x. DO NOT EDIT.\nexport const a = 1;\n")).toBe(true);
  expect(await isGenerated("// Generates ids.\nexport const generatedId = 1;\n")).toBe(false);
});

it("knows a language by a name's ending", () => {
  expect(languageOf("x.TS")?.name).toBe("typescript");
  expect([".ts", "ts", "x.md", "x"].map(languageOf)).toEqual([undefined, undefined, undefined, undefined]);
});
