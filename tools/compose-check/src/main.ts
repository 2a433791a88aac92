import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { checkServices } from "./check-services.ts";
import { Compose } from "./compose.ts";
import { buildLocalImages } from "./local-images.ts";

// Builds the images, starts docker-compose.yml for real, checks what it promises, and removes it again: node tools/compose-check/src/main.ts [--local-images] [--keep]
//
// Needs a Docker engine with Compose. With --local-images, for machines that reach no image registry, the base images are made here first, by debootstrap; that needs
// root. With --keep everything is left running, to look at.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const isLocal = process.argv.includes("--local-images");
const modelKey = randomBytes(24).toString("hex");
const environment = {
  OPENAI_API_KEY: modelKey,
  POSTGRES_PASSWORD: randomBytes(24).toString("hex"),
  FORGE_PORT: String(20_000 + (randomBytes(2).readUInt16BE() % 10_000)),
  ...(isLocal ? await buildLocalImages() : {}),
};
// A project of its own: what runs here otherwise is left alone.
const compose = await Compose.find({ root: ROOT, project: `forge-check-${randomBytes(3).toString("hex")}`, environment });
try {
  await compose.run(["build"]);
  await compose.run(["up", "--detach"]);
  await checkServices(compose, `http://127.0.0.1:${environment.FORGE_PORT}`, modelKey);
  console.log("passed");
} catch (error) {
  await compose.run(["ps"]).catch(() => undefined);
  await compose.run(["logs", "--no-color", "--tail", "50"]).catch(() => undefined);
  throw error;
} finally {
  if (!process.argv.includes("--keep")) await compose.run(["down", "--volumes", "--timeout", "5"]);
}
