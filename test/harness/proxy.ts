import net from "node:net";

/** A TCP proxy before a server, which can lose the server's answers. */
export interface Proxy {
  readonly url: string;
  /** From now on requests go through and answers are lost. */
  loseAnswers(): void;
  /** The same, from when this text goes through in a request. */
  loseAnswersTo(text: string): void;
  /** Connections that were made, and pieces of answers that were lost. */
  readonly counts: { readonly connections: number; readonly lost: number };
  /** Cuts every connection; new ones work as usual. */
  cut(): void;
  close(): Promise<void>;
}

/** A port of 0 is any free one. */
export async function startProxy(targetUrl: string, port = 0): Promise<Proxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<net.Socket>();
  const counts = { connections: 0, lost: 0 };
  let losing = false;
  let losingFrom: string | undefined;
  const server = net.createServer((client) => {
    counts.connections++;
    const upstream = net.connect(Number(target.port), target.hostname);
    for (const [own, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(own);
      // Of what went through before, as much as the text may have begun in.
      let before = Buffer.alloc(0);
      own.on("data", (data: Buffer) => {
        if (losingFrom !== undefined && own === client) {
          const through = Buffer.concat([before, data]);
          losing ||= through.includes(losingFrom);
          before = through.subarray(-losingFrom.length);
        }
        if (losing && own === upstream) counts.lost++;
        else other.write(data);
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
    counts,
    loseAnswers: () => {
      losing = true;
    },
    loseAnswersTo: (text) => {
      losingFrom = text;
    },
    cut: () => {
      losing = false;
      losingFrom = undefined;
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
