import { isTest, type Repository, type Violation } from "../repository.ts";

/** Code that ships imports a test, or a helper in a folder or subpath named `testing`. */
export function testCodeInProduction(repository: Repository): Violation[] {
  return repository.files
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => specifier.endsWith(".spec.ts") || specifier.split("/").includes("testing"))
        .map(({ specifier, line }) => ({ path, line, message: `${specifier} is for tests only` })),
    );
}
