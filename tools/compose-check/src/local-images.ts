import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";

const SUITE = "bookworm";
const DEBIAN = "forge-check-debian";
const NODE = "forge-check-node";
const POSTGRES = "forge-check-postgres";
const BUILD_MS_MAX = 15 * 60_000;

/** What the official image does for a volume that is new, and no more. */
const POSTGRES_ENTRYPOINT = `#!/bin/sh
set -e
export PGDATA=/var/lib/postgresql/data PATH="$PATH:$(echo /usr/lib/postgresql/*/bin)"
if [ "$(id -u)" = 0 ]; then
  chown postgres /var/lib/postgresql /var/run/postgresql
  exec setpriv --reuid postgres --regid postgres --clear-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username "$POSTGRES_USER" --pwfile /tmp/password --auth-host scram-sha-256 --auth-local trust
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "create database \\"$POSTGRES_DB\\"" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -c listen_addresses='*'
`;

/**
 * Makes stand-ins for the base images from Debian's packages, the Node that runs this and its npm, where they are not there yet. Returns the variables by which
 * docker-compose.yml takes them. Needs root and debootstrap.
 */
export async function buildLocalImages(): Promise<{ readonly FORGE_NODE_IMAGE: string; readonly FORGE_POSTGRES_IMAGE: string }> {
  const directory = await mkdtemp(path.join(tmpdir(), "forge-images-"));
  try {
    if (!(await isThere(DEBIAN))) {
      await run("debootstrap", ["--variant=minbase", "--include=ca-certificates", SUITE, path.join(directory, "debian")]);
      await run("sh", ["-c", `tar -C "$1" -c . | docker import - ${DEBIAN}`, "sh", path.join(directory, "debian")]);
    }
    if (!(await isThere(NODE))) await buildNode(directory);
    if (!(await isThere(POSTGRES))) {
      await writeFile(path.join(directory, "entrypoint"), POSTGRES_ENTRYPOINT, { mode: 0o755 });
      const install =
        "apt-get update && apt-get install -y --no-install-recommends postgresql && rm -rf /var/lib/postgresql/* && install -d -o postgres /var/run/postgresql";
      await build(POSTGRES, directory, ["entrypoint"], [`RUN ${install}`, "COPY entrypoint /entrypoint", 'ENTRYPOINT ["/entrypoint"]']);
    }
    return { FORGE_NODE_IMAGE: NODE, FORGE_POSTGRES_IMAGE: POSTGRES };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function buildNode(directory: string): Promise<void> {
  // The one that the machine came with: the pinned Node has none of its own.
  const npm = path.resolve((await run("sh", ["-c", 'readlink -f "$(command -v npm)"'], "pipe")).trim(), "../..");
  await cp(process.execPath, path.join(directory, "node"), { dereference: true });
  await cp(npm, path.join(directory, "npm"), { recursive: true, dereference: true });
  const files = ["node", "npm"];
  const lines = ["COPY node /usr/local/bin/node", "COPY npm /usr/local/lib/node_modules/npm"];
  for (const name of ["npm", "npx"]) lines.push(`RUN ln -s ../lib/node_modules/npm/bin/${name}-cli.js /usr/local/bin/${name}`);
  // Behind a proxy that signs by a certificate of its own, the build has to know it.
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  if (certificates !== undefined) {
    await cp(certificates, path.join(directory, "certificates"), { dereference: true });
    files.push("certificates");
    lines.push("COPY certificates /usr/local/share/certificates", "ENV NODE_EXTRA_CA_CERTS=/usr/local/share/certificates");
  }
  await build(NODE, directory, files, lines);
}

/** Builds an image on Debian's. */
async function build(name: string, directory: string, files: readonly string[], lines: readonly string[]): Promise<void> {
  await writeFile(path.join(directory, "Dockerfile"), [`FROM ${DEBIAN}`, ...lines, ""].join("\n"));
  await writeFile(path.join(directory, ".dockerignore"), ["*", ...files.map((file) => `!${file}`), ""].join("\n"));
  await run("docker", ["build", "--tag", name, directory]);
}

async function isThere(image: string): Promise<boolean> {
  return !(await execa("docker", ["image", "inspect", image], { reject: false, timeout: 30_000 })).failed;
}

async function run(file: string, args: readonly string[], stdout: "inherit" | "pipe" = "inherit"): Promise<string> {
  return (await execa(file, args, { stdin: "ignore", stdout, stderr: "inherit", timeout: BUILD_MS_MAX })).stdout ?? "";
}
