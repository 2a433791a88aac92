import { posix } from "node:path";
import { SCOPE } from "../layers.ts";
import { packageOf, type Repository, type Violation } from "../repository.ts";

/** A file reaches into another package past what that package exports, by name or by a relative path. */
export function deepImports(repository: Repository): Violation[] {
  const entries = new Set(repository.packages.flatMap((one) => [...one.entries]));
  const violations: Violation[] = [];
  for (const file of repository.files) {
    const owner = packageOf(repository, file.path);
    for (const { specifier, line } of file.imports) {
      if (specifier.startsWith(SCOPE) && !entries.has(specifier)) {
        violations.push({ path: file.path, line, message: `${specifier} is not among what its package exports` });
      }
      if (specifier.startsWith("/") || specifier.startsWith("file:"))
        violations.push({ path: file.path, line, message: `${specifier} is a path of one machine` });
      if (specifier.startsWith(".") && owner !== undefined) {
        const target = posix.join(posix.dirname(file.path), specifier);
        if (!target.startsWith(`${owner.dir}/`))
          violations.push({ path: file.path, line, message: `${specifier} leaves ${owner.name}; import the package instead` });
      }
    }
  }
  return violations;
}
