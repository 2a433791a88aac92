import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { LAYERS } from "./layers.ts";
import { type Manifest, type Repository, readRepository, toPackage, type Violation } from "./repository.ts";
import { deepImports } from "./rules/deep-imports.ts";
import { domainPurity } from "./rules/domain-purity.ts";
import { fileCycles } from "./rules/file-cycles.ts";
import { fileLength, LINES_MAX } from "./rules/file-length.ts";
import { forbiddenArrows } from "./rules/forbidden-arrows.ts";
import { testCodeInProduction } from "./rules/test-code-in-production.ts";
import { unlistedDependencies } from "./rules/unlisted-dependencies.ts";
import { wildcardExports } from "./rules/wildcard-exports.ts";
import { parseSource } from "./source-file.ts";

const RULES = { forbiddenArrows, deepImports, fileCycles, domainPurity, wildcardExports, fileLength, unlistedDependencies, testCodeInProduction };

/** A repository in memory: packages by folder, files by path. */
function repositoryOf(manifests: Record<string, Manifest>, files: Record<string, string>): Repository {
  return {
    packages: Object.entries(manifests).map(([dir, manifest]) => toPackage(dir, manifest)),
    rootDevDependencies: new Set(["vitest"]),
    files: Object.entries(files).map(([path, text]) => parseSource(path, text)),
  };
}

function places(violations: readonly Violation[]): string[] {
  return violations.map(({ path, line, message }) => `${path}:${line}: ${message}`);
}

const PROTOCOL: Manifest = { name: "@forge/protocol", exports: { ".": "./src/index.ts", "./common": "./src/common.ts", "./event": "./src/event.ts" } };
const CORE: Manifest = { name: "@forge/core", exports: { ".": "./src/index.ts" }, dependencies: { "@forge/protocol": "*" } };
const ENGINE: Manifest = { name: "@forge/engine", exports: { ".": "./src/index.ts" }, dependencies: { "@forge/core": "*" } };

describe("this repository", () => {
  let repository: Repository;
  beforeAll(async () => {
    repository = await readRepository(fileURLToPath(new URL("../../..", import.meta.url)));
  });

  it("is found and read", () => {
    expect(repository.files.length).toBeGreaterThan(50);
    expect(repository.packages.map(({ name }) => name)).toContain("@forge/protocol");
  });

  it.each(Object.entries(RULES))("keeps the rule %s", (_name, rule) => {
    expect(places(rule(repository))).toEqual([]);
  });

  it("has a layer table without a circle and without names of nothing", () => {
    const below = new Map(Object.entries(LAYERS).map(([name, allowed]) => [name, allowed.map((entry) => entry.split("/", 1)[0] ?? "")]));
    for (const start of below.keys()) {
      const reached = new Set(below.get(start));
      for (const name of reached) for (const next of below.get(name) ?? []) reached.add(next);
      expect(reached, start).not.toContain(start);
    }
    const names = repository.packages.map(({ name }) => name);
    for (const name of below.keys()) expect(names).toContain(`@forge/${name}`);
  });
});

describe("forbiddenArrows", () => {
  it("finds an import against the arrow, however it is written", () => {
    const repository = repositoryOf(
      { "libs/core": CORE, "libs/engine": ENGINE },
      {
        "libs/core/src/a.ts": 'import { load } from "@forge/engine";',
        "libs/core/src/b.ts": 'export { load } from "@forge/engine";',
        "libs/core/src/c.ts": '\nexport const engine = () => import("@forge/engine");',
        "libs/core/src/d.ts": 'export type Engine = import("@forge/engine").Engine;',
        "libs/core/src/e.ts": 'import type { Engine } from "@forge/engine";',
        "libs/core/src/fine.ts": '// import "@forge/engine"\nexport const text = \'import "@forge/engine"\';',
      },
    );
    expect(places(forbiddenArrows(repository))).toEqual([
      "libs/core/src/a.ts:1: @forge/core may not import @forge/engine",
      "libs/core/src/b.ts:1: @forge/core may not import @forge/engine",
      "libs/core/src/c.ts:2: @forge/core may not import @forge/engine",
      "libs/core/src/d.ts:1: @forge/core may not import @forge/engine",
      "libs/core/src/e.ts:1: @forge/core may not import @forge/engine",
    ]);
  });

  it("gives core no subpath of protocol but common", () => {
    const source =
      'import { ForgeError } from "@forge/protocol";\nimport { ErrorCode } from "@forge/protocol/common";\nimport { Event } from "@forge/protocol/event";';
    const repository = repositoryOf({ "libs/core": CORE }, { "libs/core/src/a.ts": source });
    expect(places(forbiddenArrows(repository))).toEqual(["libs/core/src/a.ts:3: @forge/core may not import @forge/protocol/event"]);
  });

  it("finds a dependency against the arrow and a package that the table does not know", () => {
    const repository = repositoryOf(
      {
        "libs/core": { ...CORE, dependencies: { "@forge/host": "*" } },
        "libs/new": { name: "@forge/new" },
        "tools/any": { name: "@forge/any", dependencies: { "@forge/host": "*" } },
      },
      {},
    );
    expect(places(forbiddenArrows(repository))).toEqual([
      "libs/core/package.json:1: @forge/core may not depend on @forge/host",
      "libs/new/package.json:1: @forge/new is not in the layer table of tools/tidy",
    ]);
  });
});

describe("deepImports", () => {
  it("finds a way into a package past its exports", () => {
    const repository = repositoryOf(
      { "libs/core": CORE, "libs/protocol": PROTOCOL },
      {
        "libs/core/src/a.ts": 'import "@forge/protocol/src/gen/x.ts";\nimport "@forge/protocol/common";',
        "libs/core/src/b.ts": 'import "../../protocol/src/ids.ts";\nimport "../src/a.ts";\nimport "/home/me/x.ts";',
      },
    );
    expect(places(deepImports(repository))).toEqual([
      "libs/core/src/a.ts:1: @forge/protocol/src/gen/x.ts is not among what its package exports",
      "libs/core/src/b.ts:1: ../../protocol/src/ids.ts leaves @forge/core; import the package instead",
      "libs/core/src/b.ts:3: /home/me/x.ts is a path of one machine",
    ]);
  });
});

describe("fileCycles", () => {
  it("finds a circle of three, through types as well", () => {
    const repository = repositoryOf(
      { "libs/core": CORE },
      {
        "libs/core/src/a.ts": 'import { b } from "./b.ts";\nexport const a = b;',
        "libs/core/src/b.ts": 'export { c as b } from "./deep/c.ts";',
        "libs/core/src/deep/c.ts": 'import type { a } from "../a.ts";\nexport const c: typeof a = 1;',
        "libs/core/src/d.ts": 'import "./a.ts";\nimport "./b.ts";',
      },
    );
    expect(places(fileCycles(repository))).toEqual([
      "libs/core/src/deep/c.ts:1: circular import: libs/core/src/a.ts -> libs/core/src/b.ts -> libs/core/src/deep/c.ts -> libs/core/src/a.ts",
    ]);
  });
});

describe("domainPurity", () => {
  it.each([
    ['import { createHash } from "node:crypto";', "import node:crypto"],
    ['import { createHash } from "crypto";', "import crypto"],
    ["export async function f() {}", "use an async function"],
    ["export const f = async () => 1;", "use an async function"],
    ["await 1;", "use await"],
    ["export const f = () => import('./x.ts');", "use a dynamic import"],
    ["export const now = Date.now();", "use Date"],
    ["export const now = new Date();", "use Date"],
    ["export const clock = { Date };", "use Date"],
    ["export class C { clock = Date }", "use Date"],
    ["export const r = Math.random();", "use Math.random"],
    ["setTimeout(() => 1, 1);", "use setTimeout"],
    ["export const id = crypto.randomUUID();", "use crypto"],
    ["export const id = globalThis.crypto;", "use globalThis"],
  ])("finds %s", (source, what) => {
    const repository = repositoryOf({}, { "libs/domain/src/x.ts": source });
    expect(places(domainPurity(repository)).map((place) => place.replace("libs/domain/src/x.ts:1: the domain is pure and may not ", ""))).toContain(what);
  });

  it("lets names of properties and types, other packages and tests pass", () => {
    const repository = repositoryOf(
      {},
      {
        "libs/domain/src/x.ts":
          "export interface T { fetch: number; process(): void }\nexport const o = { console: 1, x: Math.max(1, 2) };\nexport class C { process = 1 }\nexport const n = o.console;",
        "libs/domain/src/x.spec.ts": "export const now = Date.now();",
        "libs/domain/src/testing/clock.ts": "export const now = Date.now();",
        "libs/engine/src/x.ts": "export const now = Date.now();",
      },
    );
    expect(domainPurity(repository)).toEqual([]);
  });
});

describe("wildcardExports", () => {
  it("finds them everywhere but in protocol's subpaths of generated code", () => {
    const repository = repositoryOf(
      {},
      {
        "libs/core/src/index.ts": 'export { a } from "./a.ts";\nexport * from "./b.ts";\nexport * as named from "./c.ts";',
        "libs/protocol/src/common.ts": 'export * from "./gen/forge/common/v1/common_pb.ts";\nexport * from "./ids.ts";',
        "libs/protocol/src/index.ts": 'export * from "./gen/forge/common/v1/common_pb.ts";',
      },
    );
    expect(places(wildcardExports(repository))).toEqual([
      'libs/core/src/index.ts:2: export * from "./b.ts": name what is exported',
      'libs/protocol/src/common.ts:2: export * from "./ids.ts": name what is exported',
      'libs/protocol/src/index.ts:1: export * from "./gen/forge/common/v1/common_pb.ts": name what is exported',
    ]);
  });
});

describe("fileLength", () => {
  it("finds a file one line too long, and leaves generated ones alone", () => {
    const repository = repositoryOf(
      {},
      {
        "libs/core/src/long.ts": "//\n".repeat(LINES_MAX + 1),
        "libs/core/src/fits.ts": "//\n".repeat(LINES_MAX),
        "libs/protocol/src/gen/x_pb.ts": "//\n".repeat(LINES_MAX + 1),
      },
    );
    expect(places(fileLength(repository))).toEqual(["libs/core/src/long.ts:501: 501 lines, at most 500 are allowed: split it"]);
  });
});

describe("unlistedDependencies", () => {
  it("finds what package.json does not name, and lets only tests use development dependencies", () => {
    const repository = repositoryOf(
      { "libs/core": { ...CORE, dependencies: { pg: "1" }, devDependencies: { "@scope/dev": "1" } } },
      {
        "libs/core/src/a.ts": 'import "pg";\nimport "node:fs";\nimport "execa";\nimport "@scope/dev/sub";\nimport "vitest";',
        "libs/core/src/a.spec.ts": 'import "vitest";\nimport "@scope/dev/sub";\nimport "execa";',
      },
    );
    expect(places(unlistedDependencies(repository))).toEqual([
      "libs/core/src/a.ts:3: execa is not named in libs/core/package.json",
      "libs/core/src/a.ts:4: @scope/dev is not named in libs/core/package.json",
      "libs/core/src/a.ts:5: vitest is not named in libs/core/package.json",
      "libs/core/src/a.spec.ts:3: execa is not named in libs/core/package.json",
    ]);
  });
});

describe("testCodeInProduction", () => {
  it("finds production code that imports a test or a test's helper, of its own package or another", () => {
    const repository = repositoryOf(
      { "libs/core": CORE },
      {
        "libs/core/src/a.ts": 'import "./testing/clock.ts";\nimport "./b.spec.ts";\nimport "@forge/protocol/testing";\nimport "./testing-ground.ts";',
        "libs/core/src/b.spec.ts": 'import "./testing/clock.ts";',
        "libs/core/src/testing/other.ts": 'import "./clock.ts";',
      },
    );
    expect(places(testCodeInProduction(repository))).toEqual([
      "libs/core/src/a.ts:1: ./testing/clock.ts is for tests only",
      "libs/core/src/a.ts:2: ./b.spec.ts is for tests only",
      "libs/core/src/a.ts:3: @forge/protocol/testing is for tests only",
    ]);
  });
});

describe("parseSource", () => {
  it("refuses what it can't read", () => {
    expect(() => parseSource("libs/core/src/a.ts", "export const = 1;")).toThrow("libs/core/src/a.ts can't be parsed");
  });
});
