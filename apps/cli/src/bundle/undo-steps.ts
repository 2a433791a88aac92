/** What takes a step back. */
export type UndoStep = () => Promise<unknown>;

/** Takes all steps back, the last one first, whatever becomes of each. What could not be taken back. */
export async function undoAll(steps: readonly UndoStep[]): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  for (const step of steps.toReversed()) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  return failures;
}
