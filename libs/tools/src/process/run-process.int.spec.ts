import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { eventually, processesWith } from "../testing/processes.ts";
import type { Isolation } from "./isolation.ts";
import { defaultIsolation } from "./process-tree.ts";
import { type RunProcessOptions, runProcess } from "./run-process.ts";

const MEBIBYTE = 1024 * 1024;
const strongest = await defaultIsolation();
const isolations: Isolation[] = strongest.kind === "marked" ? [strongest] : [strongest, { kind: "marked" }];

/** A length for `sleep` that no other process has, so that survivors are found by their command line. */
let nextLength = 700_000 + (process.pid % 1000) * 100;

describe.each(isolations)("a process in isolation $kind", (isolation) => {
  const run = (options: Partial<RunProcessOptions> & Pick<RunProcessOptions, "command">) => runProcess({ cwd: tmpdir(), isolation, ...options });
  const mark = `sleep ${nextLength++}`;

  afterEach(async () => {
    await eventually("no process", running(0), 0);
  });

  const running = (count: number) => async () => (await processesWith(mark.replace(" ", "\0"))).length === count;

  test("tells exit code and both streams", async () => {
    const result = await run({ command: "echo out; echo err >&2; exit 7" });
    expect(result).toMatchObject({ ended: "exited", exitCode: 7, signal: null, confirmedStopped: true });
    expect([result.stdout.text, result.stderr.text]).toEqual(["out\n", "err\n"]);
  });

  test("passes an argument vector on untouched", async () => {
    const result = await run({ command: ["printf", "%s|", "a b", "$HOME", "'", ""] });
    expect(result.stdout.text).toBe("a b|$HOME|'||");
  });

  test("says by which signal the command died, and adds nothing to what it printed", async () => {
    const result = await run({ command: ["sh", "-c", "kill -SEGV $$"] });
    expect(result).toMatchObject({ ended: "exited", signal: "SIGSEGV" });
    expect(result.stderr.text).toBe("");
  });

  test("a missing program is exit code 127", async () => {
    expect(await run({ command: ["forge-no-such-program"] })).toMatchObject({ exitCode: 127, confirmedStopped: true });
  });

  test("a missing directory rejects", async () => {
    await expect(run({ command: "true", cwd: "/forge-no-such-directory" })).rejects.toThrow("ENOENT");
  });

  test("inherits only what is allow-listed or asked for", async () => {
    process.env.FORGE_TEST_API_KEY = "secret";
    try {
      const result = await run({ command: ["env"], environment: { ASKED: "yes" } });
      const names = result.stdout.text.split("\n").map((line) => line.split("=")[0]);
      expect(names).toContain("PATH");
      expect(names).toContain("ASKED");
      expect(result.stdout.text).not.toContain("secret");
    } finally {
      delete process.env.FORGE_TEST_API_KEY;
    }
  });

  test("a command that reads gets end of input", async () => {
    expect(await run({ command: "cat; echo end" })).toMatchObject({ exitCode: 0, stdout: { text: "end\n" } });
  });

  test("a command reads what it is given, and need not read it", async () => {
    expect((await run({ command: ["cat"], stdin: "grüße" })).stdout.text).toBe("grüße");
    expect(await run({ command: ["true"], stdin: "x".repeat(MEBIBYTE) })).toMatchObject({ exitCode: 0, confirmedStopped: true });
  });

  test("20 MB on one line are bounded, with head and tail", async () => {
    const { stdout } = await run({ command: "printf BEGIN; head -c 20000000 /dev/zero | tr '\\0' x; printf END" });
    expect(stdout.bytes).toBe(20_000_008);
    expect(stdout.text.length).toBeLessThan(33 * 1024);
    expect(stdout.text).toMatch(/^BEGINx+\n\[\d+ bytes left out\]\nx+END$/);
    expect(Buffer.byteLength(stdout.text.replace(/\n\[.*\]\n/, "")) + stdout.omittedBytes).toBe(stdout.bytes);
  });

  test("binary output and invalid UTF-8 are text all the same", async () => {
    const { stdout } = await run({ command: "printf 'a\\000b\\377c\\303'" });
    expect(stdout.text).toBe("a\0b\ufffdc\ufffd");
  });

  test("output is told as it comes, and no character is split", async () => {
    const pieces: string[] = [];
    const emoji = "😀".repeat(50_000);
    const result = await run({ command: ["cat"], stdin: emoji, onOutput: (text, stream) => pieces.push(`${stream}:${text}`) });
    expect(result.confirmedStopped).toBe(true);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(pieces.map((piece) => piece.replace("stdout:", "")).join("")).toBe(emoji);
  });

  test("what stays in the background is gone when the command is", async () => {
    expect(await run({ command: `${mark} & setsid ${mark} & (setsid sh -c '${mark} & exit' &) ; exit 3` })).toMatchObject({
      exitCode: 3,
      confirmedStopped: true,
    });
  });

  test("a timeout ends the command and keeps what it printed", async () => {
    const result = await run({ command: `echo before; ${mark}`, timeoutMs: 300 });
    expect(result).toMatchObject({ ended: "timed_out", confirmedStopped: true, stdout: { text: "before\n" } });
    expect(result.durationMs).toBeLessThan(2_000);
  });

  test("an abort gives the command time to clean up", async () => {
    const abort = new AbortController();
    const script = `trap 'echo cleaned; exit 0' TERM; echo ready; ${mark} & wait`;
    const result = await run({ command: script, signal: abort.signal, onOutput: (text) => text.includes("ready") && abort.abort() });
    expect(result).toMatchObject({ ended: "aborted", exitCode: 0, confirmedStopped: true, stdout: { text: "ready\ncleaned\n" } });
  });

  test("an abort ends what ignores SIGTERM, leaves the session, and forks twice", async () => {
    const abort = new AbortController();
    const stubborn = `trap '' TERM; ${mark} & setsid ${mark} & (setsid sh -c '${mark} & exit' &) ; ${mark}`;
    const ended = run({ command: stubborn, signal: abort.signal, graceMs: 100 });
    await eventually("four processes", running(4));
    abort.abort();
    expect(await ended).toMatchObject({ ended: "aborted", confirmedStopped: true });
  });

  test("an abort right at the start leaves nothing", async () => {
    const abort = new AbortController();
    const ended = run({ command: mark, signal: abort.signal, graceMs: 0 });
    abort.abort();
    expect(await ended).toMatchObject({ ended: "aborted", confirmedStopped: true });
    expect(await run({ command: mark, signal: abort.signal })).toMatchObject({ ended: "aborted", exitCode: null, confirmedStopped: true });
  });

  test("a fork bomb's growth does not outrun the kill", async () => {
    const abort = new AbortController();
    const grow = `i=0; while [ $i -lt 400 ]; do setsid ${mark} & i=$((i+1)); done; wait`;
    const ended = run({ command: grow, signal: abort.signal, graceMs: 0 });
    await eventually("some processes", async () => (await processesWith(mark.replace(" ", "\0"))).length > 5);
    abort.abort();
    expect(await ended).toMatchObject({ ended: "aborted", confirmedStopped: true });
  });

  test("kill -9 of the owner leaves nothing", async () => {
    const owner = `
      import { runProcess } from ${JSON.stringify(new URL("./run-process.ts", import.meta.url).href)};
      await runProcess({
        command: "trap '' TERM; ${mark} & setsid ${mark} & (setsid sh -c '${mark} & exit' &) ; ${mark}",
        cwd: "/", isolation: ${JSON.stringify(isolation)},
      });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", owner], { stdio: "ignore" });
    await eventually("four processes", running(4));
    child.kill("SIGKILL");
    await eventually("no process", running(0));
    expect(child.signalCode).toBe("SIGKILL");
  });
});

test.runIf(strongest.kind === "namespace")("a namespace holds what has cleared its environment and left the session", async () => {
  const mark = `sleep ${nextLength++}`;
  const result = await runProcess({ command: `env -i setsid ${mark} >/dev/null 2>&1 & exit 0`, cwd: "/" });
  expect(result).toMatchObject({ exitCode: 0, confirmedStopped: true });
  expect(await processesWith(mark.replace(" ", "\0"))).toEqual([]);
});

test("marked isolation says so when a process that it can't find still holds the output", async () => {
  const mark = `sleep ${nextLength++}`;
  const directory = await mkdtemp(path.join(tmpdir(), "forge-run-process-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  // The command ends only once the other has left its mark behind.
  const command = `env -i /usr/bin/setsid /bin/sh -c ': > ${directory}/away; exec ${mark}' & until [ -e ${directory}/away ]; do sleep 0.01; done; exit 0`;
  const result = await runProcess({ command, cwd: "/", isolation: { kind: "marked" } });
  const [survivor] = await processesWith(mark.replace(" ", "\0"));
  process.kill(survivor as number, "SIGKILL");
  expect(result).toMatchObject({ exitCode: 0, confirmedStopped: false });
});
