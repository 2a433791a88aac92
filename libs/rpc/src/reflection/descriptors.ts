import { type DescFile, type DescMessage, type DescService, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/** The contracts of services, found by the names in them. */
export class Descriptors {
  readonly services: readonly string[];
  readonly #files = new Map<string, DescFile>();
  readonly #symbols = new Map<string, DescFile>();
  readonly #messages = new Set<string>();

  constructor(services: readonly DescService[]) {
    this.services = services.map(({ typeName }) => typeName).toSorted();
    for (const { file } of services) this.#add(file);
  }

  file(path: string): DescFile | undefined {
    return this.#files.get(path);
  }

  /** The file that declares a service, method, message, field, oneof, enum or enum value. */
  declaring(symbol: string): DescFile | undefined {
    return this.#symbols.get(symbol);
  }

  hasMessage(typeName: string): boolean {
    return this.#messages.has(typeName);
  }

  #add(file: DescFile): void {
    if (this.#files.has(path(file))) return;
    this.#files.set(path(file), file);
    for (const service of file.services) {
      this.#symbols.set(service.typeName, file);
      for (const method of service.methods) this.#symbols.set(`${service.typeName}.${method.name}`, file);
    }
    for (const message of file.messages) this.#addMessage(message);
    this.#addEnums(file);
    for (const dependency of file.dependencies) this.#add(dependency);
  }

  #addMessage(message: DescMessage): void {
    const { file, typeName } = message;
    this.#messages.add(typeName);
    this.#symbols.set(typeName, file);
    for (const { name } of [...message.fields, ...message.oneofs]) this.#symbols.set(`${typeName}.${name}`, file);
    for (const nested of message.nestedMessages) this.#addMessage(nested);
    this.#addEnums({ enums: message.nestedEnums });
  }

  #addEnums({ enums }: Pick<DescFile, "enums">): void {
    for (const { typeName, values, file } of enums) {
      this.#symbols.set(typeName, file);
      // A value's full name is a sibling of its enum's.
      const scope = typeName.slice(0, typeName.lastIndexOf("."));
      for (const { name } of values) this.#symbols.set(`${scope}.${name}`, file);
    }
  }
}

/** The name by which others import a file. */
function path(file: DescFile): string {
  return file.proto.name;
}

/** A file and all that it imports, encoded, the file itself first; of the others only those that have not been sent, which `sent` is told. */
export function encodeWithImports(file: DescFile, sent: Set<string>): Uint8Array[] {
  const encoded: Uint8Array[] = [];
  const queue = [file];
  const seen = new Set(queue);
  for (const next of queue) {
    if (next === file || !sent.has(path(next))) encoded.push(toBinary(FileDescriptorProtoSchema, next.proto));
    sent.add(path(next));
    for (const dependency of next.dependencies) {
      if (seen.has(dependency)) continue;
      seen.add(dependency);
      queue.push(dependency);
    }
  }
  return encoded;
}
