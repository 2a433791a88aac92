import { setTimeout as delay } from "node:timers/promises";
import { cutConnection, type FakeResponse, isGivenUp } from "./fake-server.ts";
import type { Wire } from "./wire.ts";

/** One call that is to be answered badly. */
export interface BadCall {
  readonly response: FakeResponse;
  readonly wire: Wire;
  /** The encoded message of a good answer. */
  readonly message: Buffer;
  /** A good message is to come before what is bad, so that a reader sees what becomes of it. */
  readonly isStream: boolean;
  /** Resolves when the client has the good message; absent: it may lose it with the connection. */
  readonly heard?: Promise<void>;
}

type Misbehaviour = (call: BadCall) => Promise<void> | void;

/** Bytes that are neither a message of protobuf nor JSON, nor compressed by anything. */
const GARBAGE = Buffer.from("ffffffffffffffffffff00fe", "hex");
/** What was written has left this process by then, and comes before the end of its connection. */
const FLUSH_MS = 30;
const FOUR_GIB = 0xff_ff_ff_ff;
/** After which a late answer comes. */
export const LATE_MS = 700;
const ERROR_PAGE = "<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>";

/** Begins an answer as a good server does: the header, and of a stream one message, which comes by itself. */
async function begin({ wire, response, message, isStream, heard }: BadCall, fields: Readonly<Record<string, string>> = {}): Promise<void> {
  wire.begin(response, fields);
  if (!isStream) return;
  response.write(wire.frame(message));
  // A browser throws away what its page has not read of a connection that is cut.
  await (heard ?? delay(FLUSH_MS));
}

/** Says how long the body is where that is not told by frames. */
function lengthOf({ wire, message }: BadCall): Readonly<Record<string, string>> {
  return wire.framing === "connect-unary" ? { "content-length": String(message.length) } : {};
}

/** Ends the call's connection once what was written has left this process, and the stream that may share the connection has come as far as it is good. */
async function cut({ response, heard }: BadCall): Promise<void> {
  await Promise.all([heard, delay(FLUSH_MS)]);
  cutConnection(response);
}

function page(status: number): Misbehaviour {
  return ({ response }) => {
    response.writeHead(status, { "content-type": "text/html" });
    response.end(ERROR_PAGE);
  };
}

/** By what they do. */
export const MISBEHAVIOURS = {
  cutsMessage: async (call) => {
    await begin(call, lengthOf(call));
    const frame = call.wire.frame(call.message);
    call.response.write(frame.subarray(0, frame.length - Math.ceil(call.message.length / 2)));
    await cut(call);
  },
  /** Of a stream, and of one answer in gRPC: all of its messages and not the end. Of one answer without frames: half of what was promised, and then the end. */
  leavesOutEnd: async (call) => {
    const { wire, response, message } = call;
    await begin(call, lengthOf(call));
    if (wire.framing === "connect-unary") {
      response.write(message.subarray(0, message.length / 2));
      return cut(call);
    }
    if (!call.isStream) response.write(wire.frame(message));
    response.end();
  },
  isUnavailable: ({ wire, response }) => {
    if (wire.framing === "connect-unary") {
      response.writeHead(503, { "content-type": "application/json" });
      response.end(JSON.stringify({ code: "unavailable", message: "told by the server" }));
      return;
    }
    wire.begin(response);
    wire.end(response, { grpc: 14, connect: "unavailable" });
  },
  showsErrorPage: page(502),
  showsPage: page(200),
  sendsGarbage: async (call) => {
    await begin(call);
    call.response.write(call.wire.frame(GARBAGE));
    call.wire.end(call.response);
  },
  /** The message is not compressed though its frame or header says so. */
  liesAboutCompression: async (call) => {
    await begin(call, call.wire.compressedHeader);
    call.response.write(call.wire.frame(call.message, 1));
    call.wire.end(call.response);
  },
  /** It promises more than anybody may take, and sends little of it. */
  promisesTooMuch: async (call) => {
    await begin(call, call.wire.framing === "connect-unary" ? { "content-length": String(FOUR_GIB) } : {});
    call.response.write(call.wire.frame(call.message, 0, FOUR_GIB));
    await cut(call);
  },
  /** The header comes, of a stream one message as well, and then nothing more. */
  fallsSilent: (call) => begin(call, lengthOf(call)),
  /** It answers well, but later than a short deadline. */
  answersLate: async (call) => {
    const { wire, response, message, isStream } = call;
    if (isStream) await begin(call);
    await delay(LATE_MS);
    if (isGivenUp(response)) return;
    if (!isStream) wire.begin(response, lengthOf(call));
    response.write(wire.frame(message));
    wire.end(response);
  },
} as const satisfies Readonly<Record<string, Misbehaviour>>;

export type MisbehaviourName = keyof typeof MISBEHAVIOURS;
