import { writeSync } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { openServerLog } from "./server-log.ts";
import { makeDirectory, removeDirectory } from "./testing/processes.ts";

test("a log past its bound is put aside at the next start, and its tail is of this start only", async () => {
  const directory = await makeDirectory();
  const file = path.join(directory, "postgres.log");
  try {
    await writeFile(file, "an old line\n".repeat(400_000));
    const full = (await stat(file)).size;
    const log = await openServerLog(directory);
    expect((await stat(file)).size).toBe(0);
    expect((await stat(`${file}.1`)).size).toBe(full);
    expect(await log.tail()).toBe("");
    writeSync(log.fd, "a new line\n");
    expect(await log.tail()).toBe("a new line");
    log.close();

    const again = await openServerLog(directory);
    writeSync(again.fd, `${"x".repeat(10_000)}\nthe last line\n`);
    const tail = await again.tail();
    expect(tail).toMatch(/the last line$/);
    expect(tail.length).toBeLessThanOrEqual(4_096);
    again.close();
    again.close();
  } finally {
    await removeDirectory(directory);
  }
});
