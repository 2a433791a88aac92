import { readdir, readFile } from "node:fs/promises";

/** The command lines of processes that hold a text. Linux only. */
export async function processesNaming(text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    // A process may end while it is looked at.
    const commandLine = await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "");
    if (commandLine.includes(text)) found.push(commandLine.replaceAll("\0", " "));
  }
  return found;
}
