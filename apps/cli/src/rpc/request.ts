import { fromJson, type JsonObject, type JsonValue, type Message } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { findMethod, type RpcMethod } from "./methods.ts";

/** Chosen by the caller, unique among his open calls. */
export type CallId = string | number;

/** What a line asks for; one that can't be understood is answered to its id, or to null where that can't be understood either. */
export type Request =
  | { readonly kind: "call"; readonly id: CallId; readonly method: RpcMethod; readonly message: Message }
  | { readonly kind: "cancel"; readonly id: CallId | undefined; readonly target: CallId }
  | { readonly kind: "refused"; readonly id: CallId | null; readonly error: ForgeError };

const ID_LENGTH_MAX = 128;
const FIELDS: ReadonlySet<string> = new Set(["id", "method", "params"]);

/** Reads one line. */
export function parseRequest(text: string): Request {
  let id: CallId | null = null;
  try {
    const json = parseObject(text);
    if (isCallId(json.id)) id = json.id;
    else if (json.id !== undefined || json.method !== "cancel")
      throw ForgeError.validation("id", `id must be a whole number or a text of 1 to ${ID_LENGTH_MAX} characters`);
    for (const name of Object.keys(json))
      if (!FIELDS.has(name)) throw ForgeError.validation(name.slice(0, 128), "a request has id, method and params, and nothing else");
    const { params = {} } = json;
    if (!isObject(params)) throw ForgeError.validation("params", "params must be an object");
    if (json.method === "cancel") {
      if (!isCallId(params.id)) throw ForgeError.validation("params.id", "cancel takes the id of a call");
      return { kind: "cancel", id: id ?? undefined, target: params.id };
    }
    const method = typeof json.method === "string" ? findMethod(json.method) : undefined;
    if (method === undefined)
      throw new ForgeError(ErrorCode.UNSUPPORTED, `there is no method ${shown(json.method)}: one is, for example, SessionService.StartTurn`);
    return { kind: "call", id: id as CallId, method, message: toMessage(method, params) };
  } catch (error) {
    if (error instanceof ForgeError) return { kind: "refused", id, error };
    throw error;
  }
}

function parseObject(text: string): JsonObject {
  let json: JsonValue;
  try {
    json = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw ForgeError.validation("", `the line is no JSON: ${error instanceof Error ? error.message : String(error)}`, { reason: "PARSE" });
  }
  if (!isObject(json)) throw ForgeError.validation("", "the line is no JSON object", { reason: "PARSE" });
  return json;
}

function toMessage({ method }: RpcMethod, params: JsonObject): Message {
  try {
    // As on every wire: what is not in the contract is refused instead of passed over.
    return fromJson(method.input, params, { ignoreUnknownFields: false });
  } catch (error) {
    throw ForgeError.validation("params", error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function isObject(json: JsonValue | undefined): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function isCallId(json: JsonValue | undefined): json is CallId {
  return typeof json === "string" ? json !== "" && json.length <= ID_LENGTH_MAX : Number.isSafeInteger(json);
}

function shown(method: JsonValue | undefined): string {
  return typeof method === "string" ? method.slice(0, 128) : "that is no text";
}
