import { LAYERS, SCOPE } from "../layers.ts";
import { packageOf, type Repository, type Violation } from "../repository.ts";

function allows(allowed: readonly string[], target: string): boolean {
  const name = target.split("/", 1)[0] ?? "";
  return allowed.includes(name) || allowed.includes(target === name ? `${name}/index` : target);
}

/** A package of libs or apps imports, or depends on, one that the layer table does not give it. */
export function forbiddenArrows(repository: Repository): Violation[] {
  const violations: Violation[] = [];
  for (const { dir, name, dependencies } of repository.packages) {
    if (!dir.startsWith("libs/") && !dir.startsWith("apps/")) continue;
    const allowed = LAYERS[name.slice(SCOPE.length)];
    const path = `${dir}/package.json`;
    if (allowed === undefined) {
      violations.push({ path, line: 1, message: `${name} is not in the layer table of tools/tidy` });
      continue;
    }
    for (const dependency of dependencies) {
      if (!dependency.startsWith(SCOPE)) continue;
      const target = dependency.slice(SCOPE.length);
      if (!allowed.some((entry) => entry.split("/", 1)[0] === target)) violations.push({ path, line: 1, message: `${name} may not depend on ${dependency}` });
    }
  }
  for (const file of repository.files) {
    const owner = packageOf(repository, file.path);
    if (owner === undefined || (!owner.dir.startsWith("libs/") && !owner.dir.startsWith("apps/"))) continue;
    const allowed = LAYERS[owner.name.slice(SCOPE.length)] ?? [];
    for (const { specifier, line } of file.imports) {
      if (specifier.startsWith(SCOPE) && !allows(allowed, specifier.slice(SCOPE.length))) {
        violations.push({ path: file.path, line, message: `${owner.name} may not import ${specifier}` });
      }
    }
  }
  return violations;
}
