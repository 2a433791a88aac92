import {
  create,
  createFileRegistry,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  fromJsonString,
  toJsonString,
} from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ServerReflection, type ServerReflectionRequest } from "@forge/protocol/grpc-reflection";

// The part of grpcurl that the guides show, for machines that don't have it: like it, this knows nothing of the contracts but what the server tells.
// grpcurl -plaintext [-H 'name: value'] [-d <json>] <host:port> list | describe <service> | <package.Service/Method>

type Question = ServerReflectionRequest["messageRequest"];

const words = process.argv.slice(2);
const headers = new Headers();
let body = "{}";
const rest: string[] = [];
for (let word = words.shift(); word !== undefined; word = words.shift()) {
  if (word === "-H") {
    const [name = "", ...value] = (words.shift() ?? "").split(":");
    headers.set(name, value.join(":").trim());
  } else if (word === "-d") body = words.shift() ?? "";
  else if (word !== "-plaintext") rest.push(word);
}
const [host, verb = "", symbol = ""] = rest;
const transport = createGrpcTransport({ baseUrl: `http://${host}` });
const reflection = createClient(ServerReflection, transport);

async function ask(messageRequest: Question) {
  const questions = (async function* () {
    yield { messageRequest };
  })();
  for await (const { messageResponse } of reflection.serverReflectionInfo(questions, { headers })) return messageResponse;
  throw new Error("no answer");
}

async function describe(typeName: string): Promise<DescService> {
  const answer = await ask({ case: "fileContainingSymbol", value: typeName });
  if (answer.case !== "fileDescriptorResponse") throw new Error(`${typeName}: ${JSON.stringify(answer.value)}`);
  const files = new Map(answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes)).map((file) => [file.name, file]));
  const ordered = new Set<FileDescriptorProto>();
  const add = (name: string): void => {
    const file = files.get(name);
    if (file === undefined || ordered.has(file)) return;
    for (const dependency of file.dependency) add(dependency);
    ordered.add(file);
  };
  for (const name of files.keys()) add(name);
  const service = createFileRegistry(create(FileDescriptorSetSchema, { file: [...ordered] })).getService(typeName);
  if (service === undefined) throw new Error(`${typeName} is no service`);
  return service;
}

async function call(path: string): Promise<void> {
  const [typeName = "", name] = path.split("/");
  const method = (await describe(typeName)).methods.find((each) => each.name === name);
  if (method === undefined) throw new Error(`there is no method ${path}`);
  const request = fromJsonString(method.input, body);
  if (method.methodKind === "unary") {
    const answer = await transport.unary(method as DescMethodUnary, undefined, undefined, headers, request);
    console.log(toJsonString(method.output, answer.message));
    return;
  }
  const requests = (async function* () {
    yield request;
  })();
  const answers = await transport.stream(method as DescMethodServerStreaming, undefined, undefined, headers, requests);
  for await (const message of answers.message) console.log(toJsonString(method.output, message));
}

if (verb === "list") {
  const answer = await ask({ case: "listServices", value: "" });
  if (answer.case === "listServicesResponse") for (const { name } of answer.value.service) console.log(name);
} else if (verb === "describe") {
  const { typeName, methods } = await describe(symbol);
  console.log(`${typeName} is a service:`);
  for (const { name, input, output } of methods) console.log(`  rpc ${name} ( .${input.typeName} ) returns ( .${output.typeName} );`);
} else await call(verb);
