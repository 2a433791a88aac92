/** A case that fails and is known to. */
export interface KnownFailure {
  /** Absent: every implementation of the driver. */
  readonly implementation?: string;
  readonly scenario: string;
  readonly reason: string;
}

/**
 * Reads a known-failing.txt. A line is `scenario | reason`, or `implementation | scenario | reason` where only one of a driver's implementations fails; one that is
 * blank or begins with # says nothing. Errors: a line without a reason, or one that names what there is not.
 */
export function readKnownFailing(text: string, file: string, implementations: readonly string[], scenarios: ReadonlySet<string>): readonly KnownFailure[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "" || line.startsWith("#")) return [];
    const refuse = (why: string): never => {
      throw new Error(`${file}:${index + 1}: ${why}: write "scenario | reason" or "implementation | scenario | reason"`);
    };
    const cells = line.split("|").map((cell) => cell.trim());
    if (cells.length > 3 || cells.length < 2) refuse(`there are ${cells.length} parts`);
    const reason = cells.pop() ?? "";
    const scenario = cells.pop() ?? "";
    const implementation = cells.pop();
    if (reason === "") refuse("it has no reason");
    if (!scenarios.has(scenario)) refuse(`there is no scenario "${scenario}"`);
    if (implementation !== undefined && !implementations.includes(implementation)) refuse(`there is no implementation "${implementation}" of this driver`);
    return [{ implementation, scenario, reason }];
  });
}
