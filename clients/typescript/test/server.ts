/** A gRPC server in this process that answers as a test says; the calls of the client are real. */

import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { Satchel } from "@satchel/client";
import type { SatchelOptions } from "@satchel/client";

/** A running server and a client of it. */
export interface Running extends AsyncDisposable {
  readonly satchel: Satchel;
  /** Breaks every connection, as a process that dies does. */
  readonly breakConnections: () => void;
}

/** Serves the routes on a free loopback port until the block ends. */
export async function serve(routes: (router: ConnectRouter) => void, options: SatchelOptions = {}): Promise<Running> {
  const server = createServer(connectNodeAdapter({ routes }));
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => sockets.push(socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const satchel = new Satchel({
    url: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    retryDelayMs: 1,
    ...options,
  });
  const breakConnections = () => sockets.forEach((socket) => socket.destroy());
  return {
    satchel,
    breakConnections,
    async [Symbol.asyncDispose]() {
      satchel.close();
      breakConnections();
      await once(server.close(), "close");
    },
  };
}
