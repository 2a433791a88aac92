import { spawnSync } from "node:child_process";
import { chmod, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { directLauncher, unprivilegedUserLauncher, userNamespaceLauncher } from "./launcher.ts";
import { run } from "./run.ts";
import { startEmbeddedWith } from "./start-embedded.ts";
import { makeDirectory, NOBODY, query, removeDirectory, startOwner, whyNotAs } from "./testing/processes.ts";

/** A user that no machine has an entry for. */
const STRANGER = 54_321;

function skipUnlessReached(uid: number, skip: (reason: string) => void): void {
  const whyNot = whyNotAs(uid);
  if (whyNot !== undefined) skip(whyNot);
}

// What root may do, and what another user may not, is tried by being root and becoming somebody else.
describe.runIf(process.getuid?.() === 0)("as root", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await makeDirectory();
  });
  afterEach(() => removeDirectory(directory));

  test("data moves between the ways of running without root, and stays whole below a directory that only root enters", async () => {
    await chmod(directory, 0o700);
    const dataDirectory = path.join(directory, "data");
    const ways = [
      { launcher: userNamespaceLauncher(), owner: 0 },
      { launcher: unprivilegedUserLauncher(), owner: NOBODY },
      { launcher: userNamespaceLauncher(), owner: 0 },
    ];
    for (const [n, { launcher, owner }] of ways.entries()) {
      const server = await startEmbeddedWith({ dataDirectory }, launcher);
      try {
        await query(server.connection, `create table if not exists kept (n int); insert into kept values (${n})`);
        expect((await query(server.connection, "select count(*)::int as count from kept"))[0]).toEqual({ count: n + 1 });
        expect((await stat(path.join(dataDirectory, "postgres-18", "base"))).uid).toBe(owner);
        expect((await stat(server.connection.host)).mode & 0o777).toBe(0o700);
      } finally {
        await server.stop();
      }
    }
  });

  test("the server runs neither as root nor with any right but to pass file permissions", async () => {
    const server = await startEmbeddedWith({ dataDirectory: path.join(directory, "data") }, unprivilegedUserLauncher());
    try {
      // The server reads about itself: user ids, and the rights it has as a bit mask, of which CAP_DAC_OVERRIDE is the second.
      const [row] = await query(server.connection, `select pg_read_file('/proc/' || ${server.pid} || '/status') as status`);
      expect(row?.status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m);
      for (const set of ["CapPrm", "CapEff", "CapBnd"]) expect(row?.status).toMatch(new RegExp(`^${set}:\\t0{15}2$`, "m"));
    } finally {
      await server.stop();
    }
  });

  test("what is launched finds programs and files that only root reaches", async () => {
    await chmod(directory, 0o700);
    const program = path.join(directory, "program");
    await writeFile(program, "", { mode: 0o700 });
    // PostgreSQL asks access(2) whether its own program is there, as this does.
    const question = [process.execPath, "-e", "fs.accessSync(process.argv[1], fs.constants.X_OK)", program];
    for (const launcher of [userNamespaceLauncher(), unprivilegedUserLauncher()]) {
      expect(await run([...launcher.prefix("KILL"), ...question])).toEqual({ code: 0, output: "" });
    }
  });

  test("nothing is launched once the parent is gone", async () => {
    for (const [n, launcher] of [userNamespaceLauncher(), unprivilegedUserLauncher(), directLauncher(true)].entries()) {
      const launched = [...launcher.prefix("KILL"), "touch", path.join(directory, `touched-${n}`)];
      // A shell comes between, so that the parent is not the one that the launcher was made by.
      await run(["/bin/sh", "-c", '"$@" & wait', "sh", ...launched]);
      expect(await readdir(directory)).toEqual([]);
      expect((await run(launched)).code).toBe(0);
      expect(await readdir(directory)).toEqual([`touched-${n}`]);
      await rm(path.join(directory, `touched-${n}`));
    }
  });

  test("a user who may not write the directory is told so, and which directory it is", async ({ skip }) => {
    skipUnlessReached(NOBODY, skip);
    await chmod(directory, 0o755);
    const owner = startOwner(path.join(directory, "data"), "chosen", { uid: NOBODY });
    const failed = await owner.failed();
    expect(failed).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "DATA_DIRECTORY_NOT_WRITABLE" });
    expect(failed.message).toContain(directory);
    await owner.end();
  });

  test("a user who does not own the data is told who does", async ({ skip }) => {
    skipUnlessReached(NOBODY, skip);
    const dataDirectory = path.join(directory, "data");
    await (await startEmbeddedWith({ dataDirectory }, userNamespaceLauncher())).stop();
    await chmod(directory, 0o777);
    await chmod(dataDirectory, 0o777);
    await chmod(path.join(dataDirectory, "postgres.lock"), 0o666);
    const owner = startOwner(dataDirectory, "chosen", { uid: NOBODY });
    const failed = await owner.failed();
    expect(failed).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "DATA_DIRECTORY_OWNER" });
    expect(failed.message).toMatch(/belongs to user 0, and this process runs as user 65534/);
    await owner.end();
  });

  test("a user without an entry in the password file runs it in a user namespace, and owns the files", async ({ skip }) => {
    skipUnlessReached(STRANGER, skip);
    const allowed = spawnSync("unshare", ["--user", "true"], { uid: STRANGER, gid: STRANGER }).status === 0;
    if (!allowed) skip("this machine refuses user namespaces to ordinary users");
    const home = path.join(directory, "home");
    await mkdir(home);
    await chmod(directory, 0o755);
    spawnSync("chown", [`${STRANGER}:${STRANGER}`, home]);
    const owner = startOwner(path.join(home, "data"), "chosen", { uid: STRANGER });
    const started = await owner.started();
    expect(started.launcher).toBe("user-namespace");
    expect(await query(started.connection, "select 1 as one")).toEqual([{ one: 1 }]);
    expect((await stat(path.join(home, "data", "postgres-18"))).uid).toBe(STRANGER);
    expect(await owner.end()).toBe(0);
  });
});
