import { type DescMessage, type DescMethod, fromBinary, fromJsonString, type MessageShape, toBinary, toJsonString } from "@bufbuild/protobuf";
import type { FakeRequest, FakeResponse } from "./fake-server.ts";

type Framing = "connect-unary" | "connect-stream" | "grpc" | "grpc-web";

const END_OF_CONNECT_STREAM = 0b10;
const TRAILERS_OF_GRPC_WEB = 0x80;

/** Where a method is called. */
export function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}

/** How a call wants to be answered, told by its content type; and that answer in pieces, so that a server can leave out or spoil each. */
export class Wire {
  readonly framing: Framing;
  readonly #isJson: boolean;
  readonly #contentType: string;

  constructor(request: FakeRequest) {
    this.#contentType = request.headers["content-type"] ?? "";
    this.#isJson = this.#contentType.includes("json");
    if (this.#contentType.startsWith("application/grpc-web")) this.framing = "grpc-web";
    else if (this.#contentType.startsWith("application/grpc")) this.framing = "grpc";
    else this.framing = this.#contentType.startsWith("application/connect+") ? "connect-stream" : "connect-unary";
  }

  /** The header of a good answer. */
  begin(response: FakeResponse, fields: Readonly<Record<string, string>> = {}): void {
    response.writeHead(200, { "content-type": this.#contentType, ...fields });
  }

  encode<D extends DescMessage>(desc: D, message: MessageShape<D>): Buffer {
    return Buffer.from(this.#isJson ? toJsonString(desc, message, { useProtoFieldName: true }) : toBinary(desc, message));
  }

  /** The request, whose body has come whole. */
  decode<D extends DescMessage>(desc: D, body: Buffer): MessageShape<D> {
    const message = this.framing === "connect-unary" ? body : body.subarray(5);
    return this.#isJson ? fromJsonString(desc, message.toString()) : fromBinary(desc, message);
  }

  /** A good answer that says nothing. */
  answerEmpty(response: FakeResponse): void {
    this.begin(response);
    response.write(this.frame(Buffer.from(this.#isJson ? "{}" : "")));
    this.end(response);
  }

  /** A message as it goes over the wire; alone in the body where it has no frame. */
  frame(message: Buffer, flags = 0, length = message.length): Buffer {
    if (this.framing === "connect-unary") return message;
    const head = Buffer.alloc(5);
    head.writeUInt8(flags);
    head.writeUInt32BE(length, 1);
    return Buffer.concat([head, message]);
  }

  /** The end of a good answer, or of one that failed with a status of gRPC. */
  end(response: FakeResponse, status?: { readonly grpc: number; readonly connect: string }): void {
    const code = String(status?.grpc ?? 0);
    if (this.framing === "grpc") response.addTrailers({ "grpc-status": code });
    if (this.framing === "grpc-web") response.write(this.frame(Buffer.from(`grpc-status: ${code}\r\n`), TRAILERS_OF_GRPC_WEB));
    if (this.framing === "connect-stream") {
      const end = status === undefined ? {} : { error: { code: status.connect, message: "told by the server" } };
      response.write(this.frame(Buffer.from(JSON.stringify(end)), END_OF_CONNECT_STREAM));
    }
    response.end();
  }

  /** What comes before a message's frame is compressed. */
  get compressedHeader(): Readonly<Record<string, string>> {
    if (this.framing === "connect-unary") return { "content-encoding": "gzip" };
    return { [this.framing === "connect-stream" ? "connect-content-encoding" : "grpc-encoding"]: "gzip" };
  }
}
