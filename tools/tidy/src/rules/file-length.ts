import { isGenerated, type Repository, type Violation } from "../repository.ts";

/** Past 300 lines one asks what two things a file holds; past this many it surely holds two. */
export const LINES_MAX = 500;

/** A file that nobody reads in one sitting. */
export function fileLength(repository: Repository): Violation[] {
  return repository.files
    .filter(({ path, lineCount }) => lineCount > LINES_MAX && !isGenerated(path))
    .map(({ path, lineCount }) => ({ path, line: LINES_MAX + 1, message: `${lineCount} lines, at most ${LINES_MAX} are allowed: split it` }));
}
