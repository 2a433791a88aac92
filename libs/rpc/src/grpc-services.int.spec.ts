import http2 from "node:http2";
import { create, createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "@forge/protocol/grpc-health";
import { ServerReflection } from "@forge/protocol/grpc-reflection";
import { ServerReflection as ServerReflectionAlpha } from "@forge/protocol/grpc-reflection-v1alpha";
import { SessionService } from "@forge/protocol/session";
import { afterEach, describe, expect, it } from "vitest";
import { type Served, serve as serveFakes, WORKER_TOKEN } from "./testing/index.ts";
import { AS_CLIENT, failureOf, TRANSPORTS } from "./testing/transports.ts";

const cleanup: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of cleanup.splice(0)) await close();
});

async function serve(): Promise<Served> {
  const served = await serveFakes();
  cleanup.push(() => served.close());
  return served;
}

/** In the order that a registry wants. */
function importedFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const ordered = new Set<FileDescriptorProto>();
  const add = (file: FileDescriptorProto | undefined): void => {
    if (file === undefined || ordered.has(file)) return;
    for (const name of file.dependency) add(byName.get(name));
    ordered.add(file);
  };
  for (const file of files) add(file);
  return [...ordered];
}

describe("health", () => {
  it.each(TRANSPORTS)("needs no token over %s", async (_, createTransport) => {
    const { url } = await serve();
    const health = createClient(Health, createTransport(url));
    expect((await health.check({})).status).toBe(ServingStatus.SERVING);
    expect((await health.check({ service: "forge.session.v1.SessionService" })).status).toBe(ServingStatus.SERVING);
    expect((await failureOf(health.check({ service: "forge.Nothing" }))).code).toBe(Code.NotFound);
    expect(Object.keys((await health.list({})).statuses)).toEqual(expect.arrayContaining(["", "forge.event.v1.EventService", "grpc.health.v1.Health"]));
    for await (const { status } of health.watch({})) {
      expect(status).toBe(ServingStatus.SERVING);
      break;
    }
  });

  it("is told to a probe that knows the server by another name, and to nobody else", async () => {
    const { url } = await serve();
    const session = http2.connect(url);
    const ask = async (path: string): Promise<number> => {
      const stream = session.request({ ":method": "POST", ":path": path, ":authority": "10.1.2.3:7233", "content-type": "application/json" });
      stream.end("{}");
      const status = await new Promise<number>((resolve) => stream.once("response", (headers) => resolve(Number(headers[":status"]))));
      stream.close();
      return status;
    };
    expect(await ask("/grpc.health.v1.Health/Check")).toBe(200);
    expect(await ask("/forge.session.v1.SessionService/ListSessions")).toBe(403);
    session.close();
  });

  it("refuses a request that is larger than any question", async () => {
    const { url } = await serve();
    const health = createClient(Health, createGrpcTransport({ baseUrl: url }));
    expect((await failureOf(health.check({ service: "x".repeat(10_000) }))).code).toBe(Code.ResourceExhausted);
  });
});

describe.each([
  ["v1", ServerReflection],
  ["v1alpha", ServerReflectionAlpha],
] as const)("reflection %s", (_, service) => {
  it("gives a stranger to the contracts, with a token, all that calling takes", async () => {
    const { url } = await serve();
    const transport = createGrpcTransport({ baseUrl: url });
    const reflection = createClient(service as typeof ServerReflection, transport);
    const ask = async function* () {
      yield { messageRequest: { case: "listServices" as const, value: "" } };
      yield { messageRequest: { case: "fileContainingSymbol" as const, value: "forge.session.v1.SessionService" } };
    };
    const files: FileDescriptorProto[] = [];
    const names: string[] = [];
    for await (const { messageResponse } of reflection.serverReflectionInfo(ask(), AS_CLIENT)) {
      if (messageResponse.case === "listServicesResponse") names.push(...messageResponse.value.service.map(({ name }) => name));
      if (messageResponse.case === "fileDescriptorResponse")
        files.push(...messageResponse.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes)));
    }
    expect(names).toEqual(expect.arrayContaining(["forge.session.v1.SessionService", "grpc.health.v1.Health", service.typeName]));
    // A client that has nothing but these files calls by them.
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: importedFirst(files) }));
    const found = registry.getService("forge.session.v1.SessionService");
    expect(found?.methods.map(({ name }) => name)).toEqual(SessionService.methods.map(({ name }) => name));
    const client = createClient(found as typeof SessionService, transport);
    expect(await client.createSession({ title: "by reflection" }, AS_CLIENT)).toMatchObject({ sessionId: "" });
  });

  it("answers question by question, while the stream is open", async () => {
    const { url } = await serve();
    const questions = new TransformStream<string, string>();
    const writer = questions.writable.getWriter();
    const ask = async function* () {
      for await (const value of questions.readable) yield { messageRequest: { case: "fileByFilename" as const, value } };
    };
    const reflection = createClient(service as typeof ServerReflection, createGrpcTransport({ baseUrl: url }));
    const answers = reflection.serverReflectionInfo(ask(), { headers: { authorization: `Bearer ${WORKER_TOKEN}` } })[Symbol.asyncIterator]();
    for (const [name, expected] of [
      ["forge/common/v1/common.proto", "fileDescriptorResponse"],
      ["nothing.proto", "errorResponse"],
    ] as const) {
      await writer.write(name);
      const { value } = await answers.next();
      expect(value).toMatchObject({ originalRequest: { messageRequest: { value: name } }, messageResponse: { case: expected } });
    }
    await writer.close();
    expect((await answers.next()).done).toBe(true);
  });

  it("tells nothing to who has no token", async () => {
    const { url } = await serve();
    const reflection = createClient(service as typeof ServerReflection, createGrpcTransport({ baseUrl: url }));
    const ask = async function* () {
      yield { messageRequest: { case: "listServices" as const, value: "" } };
    };
    const answers = reflection.serverReflectionInfo(ask())[Symbol.asyncIterator]();
    expect((await failureOf(answers.next())).code).toBe(Code.Unauthenticated);
  });
});
