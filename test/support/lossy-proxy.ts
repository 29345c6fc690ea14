import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** Stands between a client and a server of this machine, and loses answers: what was asked is done, and nobody hears of it. */
export class LossyProxy {
  readonly port: number;
  /** Answers lost. */
  lost = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #question: string | undefined;
  #andEverythingAfter = false;
  #deaf = false;

  private constructor(server: Server, port: number, serverPort: number) {
    this.#server = server;
    this.port = port;
    server.on('connection', (client) => {
      this.#connect(client, serverPort);
    });
  }

  static async start(serverPort: number): Promise<LossyProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return new LossyProxy(server, typeof address === 'object' && address !== null ? address.port : 0, serverPort);
  }

  /** The connection ends when the server begins to answer the next request that holds the text. */
  loseAnswersTo(question: string, options: { readonly andEverythingAfter?: boolean } = {}): void {
    this.#question = question;
    this.#andEverythingAfter = options.andEverythingAfter ?? false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #connect(client: Socket, serverPort: number): void {
    if (this.#deaf) {
      client.destroy();
      return;
    }
    const server = createConnection({ host: '127.0.0.1', port: serverPort });
    let losing = false;
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (this.#question !== undefined && bytes.toString('latin1').includes(this.#question)) {
        this.#question = undefined;
        losing = true;
      }
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (!losing) {
        client.write(bytes);
        return;
      }
      this.lost += 1;
      this.#deaf = this.#andEverythingAfter;
      client.destroy();
    });
  }
}
