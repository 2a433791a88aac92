import { readdir, readFile } from "node:fs/promises";
import os from "node:os";

/** Where and when it was measured, in words for the page. */
export type Machine = Readonly<Record<"processor" | "memory" | "disk" | "kernel" | "Node" | "PostgreSQL" | "load before" | "date", string>>;

/** What the kernel says of its block devices; virtual machines often call every disk rotational, so that its name is told as well. */
async function disks(): Promise<string> {
  const names = await readdir("/sys/block").catch(() => []); // Only Linux has it.
  const real = names.filter((name) => /^(?:sd|vd|xvd|nvme|mmcblk)/.test(name));
  const described = await Promise.all(
    real.map(async (name) => {
      const rotational = await readFile(`/sys/block/${name}/queue/rotational`, "utf8").catch(() => "");
      const kind = name.startsWith("nvme")
        ? "NVMe"
        : name.startsWith("vd") || name.startsWith("xvd")
          ? "virtual"
          : rotational.trim() === "0"
            ? "solid state"
            : "rotational";
      return `${name} (${kind})`;
    }),
  );
  return described.join(", ") || "unknown";
}

export async function describeMachine(postgresVersion: string): Promise<Machine> {
  const cpus = os.cpus();
  return {
    processor: `${cpus[0]?.model.trim() ?? "unknown"}, ${cpus.length} cores`,
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    disk: await disks(),
    kernel: `${os.type()} ${os.release()} ${os.arch()}`,
    Node: process.version,
    PostgreSQL: `${postgresVersion}, embedded, fsync on`,
    "load before": os
      .loadavg()
      .map((load) => load.toFixed(1))
      .join(", "),
    date: new Date().toISOString().slice(0, 10),
  };
}
