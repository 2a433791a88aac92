import type { DescMethod, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Role } from "./role-names.ts";

/** Who calls, in which namespace, and until when. */
export interface Call {
  readonly namespace: string;
  /** The principal's id, for example "cli" or "worker:executor". */
  readonly principal: string;
  /** Aborted when the caller is gone or its deadline has passed. */
  readonly signal: AbortSignal;
  /** Of the caller's credential. */
  readonly role: Role;
  /** All that the credential grants; absent: `namespace` only. */
  readonly namespaces?: readonly string[];
  /** When the credential ends, milliseconds since the epoch; absent: never. */
  readonly expiresAtMs?: number;
  /** Of a worker's credential: the queues that it may serve; absent or empty: all. */
  readonly queues?: readonly string[];
  /** True where answers go to a binary wire: an event in a subscription may then stay as its encoded bytes, in the unknown fields of its response. */
  readonly binary?: boolean;
}

type Answer<M extends DescMethod> = M["methodKind"] extends "server_streaming" ? AsyncIterable<MessageShape<M["output"]>> : Promise<MessageShape<M["output"]>>;

/** A service's methods as plain functions of a request and a call; errors are ForgeErrors. */
export type Api<S extends DescService> = {
  readonly [K in keyof S["method"]]: (request: MessageShape<S["method"][K]["input"]>, call: Call) => Answer<S["method"][K]>;
};

/** What a caller may say beside a request. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The call's deadline, from now on, which the server is told as well: `deadline_exceeded` comes after it. At most 2,147,483,647; absent: none. */
  readonly timeoutMs?: number;
}

/** A service's methods as a caller sees them, in process or over any wire; errors are ForgeErrors. */
export type Client<S extends DescService> = {
  readonly [K in keyof S["method"]]: (request: MessageInitShape<S["method"][K]["input"]>, options?: CallOptions) => Answer<S["method"][K]>;
};
