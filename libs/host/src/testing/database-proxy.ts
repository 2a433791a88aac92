import net from "node:net";

/** A way to a PostgreSQL's socket that writes down what no pooler in transaction mode can keep: statements with a name, and LISTEN. */
export interface DatabaseProxy {
  readonly port: number;
  readonly connections: () => number;
  /** "prepare NAME" and "listen", in the order in which they came. */
  readonly kept: readonly string[];
  close(): Promise<void>;
}

/** Bytes of a message's type and length. */
const HEAD_BYTES = 5;

/** Listens on a free port of loopback, in front of the socket. Clients must not ask for TLS. */
export async function startDatabaseProxy(socketPath: string): Promise<DatabaseProxy> {
  const kept: string[] = [];
  const open = new Set<net.Socket>();
  let connections = 0;
  const server = net.createServer((client) => {
    connections++;
    const upstream = net.connect(socketPath);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("close", () => open.delete(socket)).on("error", () => undefined);
    }
    let pending = Buffer.alloc(0);
    let started = false;
    client.on("data", (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      if (!started && pending.length >= 4 && pending.length >= pending.readInt32BE(0)) {
        pending = pending.subarray(pending.readInt32BE(0));
        started = true;
      }
      while (started && pending.length >= HEAD_BYTES && pending.length > pending.readInt32BE(1)) {
        const end = pending.readInt32BE(1) + 1;
        note(String.fromCharCode(pending[0] as number), pending.subarray(HEAD_BYTES, end));
        pending = pending.subarray(end);
      }
    });
    client.pipe(upstream).pipe(client);
    upstream.on("close", () => client.destroy());
    client.on("close", () => upstream.destroy());
  });

  function note(type: string, body: Buffer): void {
    const first = body.toString("utf8", 0, body.indexOf(0));
    if (type === "P" && first !== "") kept.push(`prepare ${first}`);
    if (type === "Q" && /^\s*listen\b/i.test(first)) kept.push("listen");
    if (type === "P" && /^\s*listen\b/i.test(body.toString("utf8", body.indexOf(0) + 1))) kept.push("listen");
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    connections: () => connections,
    kept,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
