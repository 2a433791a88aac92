import { randomUUID } from "node:crypto";
import { lstatSync, readlinkSync, renameSync, unlinkSync } from "node:fs";
import { mkdir, readlink, symlink, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { errorCode, fileError } from "../workspace/file-error.ts";
import { FOREIGN_AGE_MS, isGone, type Owner, thisProcess } from "./process-owner.ts";

/** Short beside a transaction, which takes some milliseconds. */
const LOOK_MS = 5;
/** Longer than it takes to look at a large workspace. */
const WAIT_MS_MAX = 60_000;

/**
 * Lets one process of this user after another do something. The lock is a symbolic link whose target names its owner, because that is made whole in one step;
 * one whose owner is gone is taken away.
 */
export class ProcessLock {
  readonly #path: string;

  /** The directory is made when it is needed. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Errors: conflict, WORKSPACE_BUSY, where another process does not give it up for a minute. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const mine = await this.#take();
    try {
      return await work();
    } finally {
      // Where it can't be removed, it goes with this process. One that took longer than anybody waits may be another's by now.
      if ((await readlink(this.#path).catch(() => "")) === mine) await unlink(this.#path).catch(() => undefined);
    }
  }

  async #take(): Promise<string> {
    const { host, pid, startedAt } = thisProcess();
    const mine = [host, pid, startedAt, randomUUID()].join(":");
    const deadline = performance.now() + WAIT_MS_MAX;
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      while (!(await this.#isMade(mine))) {
        this.#removeStale();
        if (performance.now() > deadline) {
          throw new ForgeError(ErrorCode.CONFLICT, "another process is changing files of this workspace; nothing was done", {
            reason: "WORKSPACE_BUSY",
            origin: "tool",
          });
        }
        await delay(LOOK_MS);
      }
      return mine;
    } catch (error) {
      throw fileError(error, "the lock of the workspace");
    }
  }

  async #isMade(target: string): Promise<boolean> {
    try {
      await symlink(target, this.#path);
      return true;
    } catch (error) {
      if (errorCode(error) === "EEXIST") return false;
      throw error;
    }
  }

  /** Without a pause in between, so that hardly anybody comes between the look and the removal. */
  #removeStale(): void {
    try {
      const found = readlinkSync(this.#path);
      if (!isStale(ownerOf(found), lstatSync(this.#path).mtimeMs)) return;
      const aside = `${this.#path}.${randomUUID()}`;
      renameSync(this.#path, aside);
      // Another process was as quick, and has it by now.
      if (readlinkSync(aside) !== found) renameSync(aside, this.#path);
      else unlinkSync(aside);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
  }
}

function ownerOf(target: string): Owner {
  const [host = "", pid = "", startedAt = ""] = target.split(":");
  return { host, pid: Number(pid), startedAt };
}

function isStale(owner: Owner, madeAtMs: number): boolean {
  return owner.host === thisProcess().host ? isGone(owner) : Date.now() - madeAtMs > FOREIGN_AGE_MS;
}
