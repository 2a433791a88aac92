/** Ends this process at once, and everything that it has started in its group. */
export function endGroup(): void {
  try {
    process.kill(-process.pid, "SIGKILL");
  } catch {
    // Started without a group of its own.
    process.kill(process.pid, "SIGKILL");
  }
}
