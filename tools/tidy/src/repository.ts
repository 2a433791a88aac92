import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { glob } from "tinyglobby";
import { parseSource, type SourceFile } from "./source-file.ts";

/** A workspace package, as its package.json describes it. */
export interface Package {
  /** From the repository's root, for example `libs/core`. */
  readonly dir: string;
  readonly name: string;
  /** The specifiers under which it can be imported, for example `@forge/protocol/common`. */
  readonly entries: ReadonlySet<string>;
  readonly dependencies: ReadonlySet<string>;
  readonly devDependencies: ReadonlySet<string>;
}

/** What the rules look at. */
export interface Repository {
  readonly packages: readonly Package[];
  /** The development dependencies of the root, which every test may use. */
  readonly rootDevDependencies: ReadonlySet<string>;
  readonly files: readonly SourceFile[];
}

/** One broken rule at one place. */
export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** The fields of a package.json that the rules use. */
export interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Whether a file is a test or, in a folder `testing`, a helper of tests: only those may use development dependencies. */
export function isTest(path: string): boolean {
  return path.endsWith(".spec.ts") || path.startsWith("test/") || path.includes("/testing/");
}

/** Whether a file is made by a generator and so follows its rules instead of ours. */
export function isGenerated(path: string): boolean {
  return path.startsWith("libs/protocol/src/gen/");
}

export function toPackage(dir: string, manifest: Manifest): Package {
  return {
    dir,
    name: manifest.name,
    entries: new Set(Object.keys(manifest.exports ?? {}).map((subpath) => manifest.name + subpath.slice(1))),
    dependencies: new Set(Object.keys(manifest.dependencies ?? {})),
    devDependencies: new Set(Object.keys(manifest.devDependencies ?? {})),
  };
}

/** The package that a file belongs to, if any. */
export function packageOf(repository: Repository, path: string): Package | undefined {
  return repository.packages.find(({ dir }) => path.startsWith(`${dir}/`));
}

async function readManifest(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(path, "utf8")) as Manifest;
}

/** Reads every package and every TypeScript file of libs, apps, tools and test. */
export async function readRepository(root: string): Promise<Repository> {
  const manifests = await glob(["{libs,apps,tools}/*/package.json", "test/package.json"], { cwd: root });
  const sources = await glob(["{libs,apps,tools}/*/src/**/*.ts", "test/**/*.ts"], { cwd: root, ignore: ["**/node_modules/**", "**/dist/**"] });
  const rootManifest = await readManifest(join(root, "package.json"));
  return {
    packages: await Promise.all(
      manifests.toSorted().map(async (path) => toPackage(path.slice(0, -"/package.json".length), await readManifest(join(root, path)))),
    ),
    rootDevDependencies: new Set(Object.keys(rootManifest.devDependencies ?? {})),
    files: await Promise.all(sources.toSorted().map(async (path) => parseSource(path, await readFile(join(root, path), "utf8")))),
  };
}
