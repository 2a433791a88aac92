import { Code } from "@connectrpc/connect";
import type { ServerReflectionRequest } from "@forge/protocol/grpc-reflection";
import type { ServerReflectionRequest as AlphaRequest } from "@forge/protocol/grpc-reflection-v1alpha";
import { type Descriptors, encodeWithImports } from "./descriptors.ts";

type Asked = (ServerReflectionRequest | AlphaRequest)["messageRequest"];

/** What is said of it, without the types' names, which differ by version. */
export type Answer =
  | { readonly case: "fileDescriptorResponse"; readonly value: { readonly fileDescriptorProto: Uint8Array[] } }
  | { readonly case: "allExtensionNumbersResponse"; readonly value: { readonly baseTypeName: string; readonly extensionNumber: number[] } }
  | { readonly case: "listServicesResponse"; readonly value: { readonly service: { readonly name: string }[] } }
  | { readonly case: "errorResponse"; readonly value: { readonly errorCode: number; readonly errorMessage: string } };

/** Answers one question about the contracts; `sent` names the files that the asker has. There are no extensions in ours. */
export function answer(asked: Asked, descriptors: Descriptors, sent: Set<string>): Answer {
  switch (asked.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: descriptors.services.map((name) => ({ name })) } };
    case "fileByFilename":
      return fileAnswer(descriptors.file(asked.value), asked.value, sent);
    case "fileContainingSymbol":
      return fileAnswer(descriptors.declaring(asked.value), asked.value, sent);
    case "fileContainingExtension":
      return notFound(`${asked.value.containingType} ${asked.value.extensionNumber}`);
    case "allExtensionNumbersOfType":
      if (!descriptors.hasMessage(asked.value)) return notFound(asked.value);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName: asked.value, extensionNumber: [] } };
    case undefined:
      return { case: "errorResponse", value: { errorCode: Code.InvalidArgument, errorMessage: "the request asks for nothing that is known here" } };
  }
}

function fileAnswer(file: ReturnType<Descriptors["file"]>, name: string, sent: Set<string>): Answer {
  if (file === undefined) return notFound(name);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto: encodeWithImports(file, sent) } };
}

function notFound(name: string): Answer {
  return { case: "errorResponse", value: { errorCode: Code.NotFound, errorMessage: `there is no ${name.slice(0, 200)} here` } };
}
