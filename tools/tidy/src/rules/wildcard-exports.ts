import { isGenerated, type Repository, type Violation } from "../repository.ts";

/** A file hands on everything of another one instead of naming it. The subpaths of protocol do so on purpose, for generated code only. */
export function wildcardExports(repository: Repository): Violation[] {
  return repository.files
    .filter(({ path }) => !isGenerated(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ wildcard, specifier }) => wildcard && !(/^libs\/protocol\/src\/(?!index\.)[^/]+$/.test(path) && specifier.startsWith("./gen/")))
        .map(({ specifier, line }) => ({ path, line, message: `export * from "${specifier}": name what is exported` })),
    );
}
