import { posix } from "node:path";
import { isGenerated, type Repository, type Violation } from "../repository.ts";

/** Files that import each other in a circle, types included: each circle is reported once, at the import that closes it. */
export function fileCycles(repository: Repository): Violation[] {
  const files = new Map(repository.files.filter(({ path }) => !isGenerated(path)).map((file) => [file.path, file]));
  const violations: Violation[] = [];
  const done = new Set<string>();
  const trail: string[] = [];

  function visit(path: string): void {
    trail.push(path);
    for (const { specifier, line } of files.get(path)?.imports ?? []) {
      if (!specifier.startsWith(".")) continue;
      const target = posix.join(posix.dirname(path), specifier);
      if (!files.has(target) || done.has(target)) continue;
      const start = trail.indexOf(target);
      if (start === -1) visit(target);
      else violations.push({ path, line, message: `circular import: ${[...trail.slice(start), target].join(" -> ")}` });
    }
    trail.pop();
    done.add(path);
  }

  for (const path of files.keys()) if (!done.has(path)) visit(path);
  return violations;
}
