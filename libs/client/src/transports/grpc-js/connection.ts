import { Client, credentials } from "@grpc/grpc-js";
import type { Connection } from "../connection.ts";
import { ANSWER_BYTES_MAX, PING_INTERVAL_MS, REQUEST_BYTES_MAX } from "../limits.ts";
import { GrpcJsTransport } from "./transport.ts";

/** As between other attempts: who calls again after a failure must not find that nobody tries to connect. */
const RECONNECT_MS_MIN = 50;
const RECONNECT_MS_MAX = 2_000;

/** One connection of its own; nothing is sent before the first call. */
export function connect(url: string): Connection {
  const { protocol, host, port, pathname } = new URL(url);
  const isSecure = protocol === "https:";
  const target = `dns:${port === "" ? `${host}:${isSecure ? 443 : 80}` : host}`;
  const client = new Client(target, isSecure ? credentials.createSsl() : credentials.createInsecure(), {
    "grpc.max_receive_message_length": ANSWER_BYTES_MAX,
    "grpc.max_send_message_length": REQUEST_BYTES_MAX,
    "grpc.keepalive_time_ms": PING_INTERVAL_MS,
    "grpc.initial_reconnect_backoff_ms": RECONNECT_MS_MIN,
    "grpc.max_reconnect_backoff_ms": RECONNECT_MS_MAX,
    // What all transports leave to their caller: whether a call is made again, and by which way it goes.
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.enable_http_proxy": 0,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_channelz": 0,
  });
  const transport = new GrpcJsTransport(client, pathname.replace(/\/$/, ""));
  return {
    transport,
    close: () => {
      transport.cancelAll();
      client.close();
    },
  };
}
