import { isBuiltin } from "node:module";
import { isTest, packageOf, type Repository, type Violation } from "../repository.ts";

/** `@scope/name/sub` -> `@scope/name`, `name/sub` -> `name`. */
function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** A file imports a package that its own package.json does not name; it would work only by the luck of hoisting. */
export function unlistedDependencies(repository: Repository): Violation[] {
  const violations: Violation[] = [];
  for (const file of repository.files) {
    const owner = packageOf(repository, file.path);
    if (owner === undefined) continue;
    for (const { specifier, line } of file.imports) {
      if (/^(?:\.|\/|file:)/.test(specifier) || isBuiltin(specifier)) continue;
      const name = packageName(specifier);
      const listed = owner.dependencies.has(name) || (isTest(file.path) && (owner.devDependencies.has(name) || repository.rootDevDependencies.has(name)));
      if (!listed) violations.push({ path: file.path, line, message: `${name} is not named in ${owner.dir}/package.json` });
    }
  }
  return violations;
}
