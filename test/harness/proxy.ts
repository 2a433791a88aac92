import net from "node:net";

/** A TCP proxy before a server, which can lose the server's answers. */
export interface Proxy {
  readonly url: string;
  /** From now on requests go through and answers are lost. */
  loseAnswers(): void;
  /** Cuts every connection; new ones work as usual. */
  cut(): void;
  close(): Promise<void>;
}

/** A port of 0 is any free one. */
export async function startProxy(targetUrl: string, port = 0): Promise<Proxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<net.Socket>();
  let losing = false;
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    for (const [own, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(own);
      own.on("data", (data) => {
        if (!(losing && own === upstream)) other.write(data);
      });
      own.on("close", () => {
        sockets.delete(own);
        other.destroy();
      });
      // What breaks is closed right after, which is all that matters here.
      own.on("error", () => undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    loseAnswers: () => {
      losing = true;
    },
    cut: () => {
      losing = false;
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
