import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** The ids of live processes whose command line contains the text; zombies have none. */
export async function processesWith(text: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    const commandLine = await readFile(`/proc/${name}/cmdline`, "latin1").catch(() => "");
    if (commandLine.includes(text)) found.push(Number(name));
  }
  return found;
}

/** Looks every 10 ms until the condition holds; fails after `timeoutMs`, saying what it waited for. */
export async function eventually(what: string, condition: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await delay(10);
  }
}
