import {
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** What goes wrong with one request. */
export type Fault =
  /** The server never sees it; this is the answer. */
  | { readonly kind: 'answer'; readonly status: number; readonly code: string }
  /** The server does it; this is the answer. */
  | { readonly kind: 'answer-after'; readonly status: number; readonly code: string }
  /** The server never sees it; the connection is cut. */
  | { readonly kind: 'drop-request' }
  /** The server does it; the connection is cut in place of the answer. */
  | { readonly kind: 'drop-response' }
  /** The connection is cut at once, and the server does it later. */
  | { readonly kind: 'apply-late'; readonly delayMs: number }
  /** The server does it, and nothing is ever answered. */
  | { readonly kind: 'never-answer' }
  /** The body comes one byte after the other. */
  | { readonly kind: 'slow'; readonly pauseMs: number }
  /** The connection is cut in the middle of the body. */
  | { readonly kind: 'cut'; readonly afterBytes: number };

export interface FaultRule {
  readonly method: string;
  /** Against path and query as sent, percent-encoded. */
  readonly path: RegExp;
  readonly fault: Fault;
  /** Requests it applies to. Default 1. */
  readonly times?: number | undefined;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly fault: Fault['kind'] | undefined;
}

interface Waiting {
  readonly rule: FaultRule;
  left: number;
}

/** An HTTP server between a client and its server that misbehaves as it is told, rule by rule, first fit first. */
export class FaultProxy {
  readonly endpoint: string;
  /** Every request, in the order they came. */
  readonly seen: SeenRequest[] = [];
  /** Asked where no rule fits, for random faults. */
  choose: ((method: string, path: string) => Fault | undefined) | undefined;
  /** Conditions of puts do not reach the server. */
  ignoresConditions = false;
  readonly #server: Server;
  readonly #target: URL;
  readonly #rules: Waiting[] = [];
  /** Requests of `apply-late` that the server has yet to get. */
  readonly #late = new Set<Promise<unknown>>();

  private constructor(server: Server, endpoint: string, target: URL) {
    this.#server = server;
    this.endpoint = endpoint;
    this.#target = target;
  }

  static async start(target: string): Promise<FaultProxy> {
    const server = createServer();
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the proxy has no port');
    const proxy = new FaultProxy(server, `http://127.0.0.1:${address.port}`, new URL(target));
    server.on('request', (request, response) => {
      proxy.#serve(request, response).catch(() => {
        response.destroy();
      });
    });
    return proxy;
  }

  fail(rule: FaultRule): void {
    this.#rules.push({ rule, left: rule.times ?? 1 });
  }

  /** No rules, nothing seen. */
  reset(): void {
    this.#rules.length = 0;
    this.seen.length = 0;
    this.choose = undefined;
    this.ignoresConditions = false;
  }

  count(method: string, path: RegExp): number {
    return this.seen.filter((request) => request.method === method && path.test(request.path)).length;
  }

  /** Resolves when the server has got everything that is late. */
  async settled(): Promise<void> {
    while (this.#late.size > 0) await Promise.allSettled([...this.#late]);
  }

  async close(): Promise<void> {
    await this.settled();
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const fault = this.#faultFor(method, url);
    this.seen.push({ method, path: url, fault: fault?.kind });
    const body = await bytesOf(request);
    switch (fault?.kind) {
      case 'drop-request':
        request.socket.destroy();
        return;
      case 'answer':
        answer(response, fault);
        return;
      case 'apply-late':
        request.socket.destroy();
        this.#later(async () => {
          await sleep(fault.delayMs);
          await this.#forward(request, body);
        });
        return;
      default:
        await this.#relay(response, await this.#forward(request, body), fault);
    }
  }

  async #relay(response: ServerResponse, served: Served, fault: Fault | undefined): Promise<void> {
    switch (fault?.kind) {
      case 'drop-response':
        response.socket?.destroy();
        return;
      case 'never-answer':
        return;
      case 'answer-after':
        answer(response, fault);
        return;
      default:
    }
    response.writeHead(served.status, served.headers);
    if (fault?.kind === 'slow') {
      for (const byte of served.body) {
        if (response.destroyed) return;
        response.write(Buffer.of(byte));
        await sleep(fault.pauseMs);
      }
    } else if (fault?.kind === 'cut') {
      await new Promise((written) => response.write(served.body.subarray(0, fault.afterBytes), written));
      response.socket?.destroy();
      return;
    } else response.write(served.body);
    response.end();
  }

  #forward(request: IncomingMessage, body: Buffer): Promise<Served> {
    const { hostname, port } = this.#target;
    // The signature covers the host that the client named, so it stays.
    const headers = { ...request.headers };
    delete headers.expect;
    if (this.ignoresConditions) delete headers['if-none-match'];
    delete headers.connection;
    return new Promise((done, fail) => {
      const forwarded: ClientRequest = httpRequest(
        { hostname, port, method: request.method, path: request.url, headers, agent: false },
        (upstream) => {
          bytesOf(upstream).then((bytes) => {
            const kept = { ...upstream.headers };
            delete kept.connection;
            delete kept['transfer-encoding'];
            done({ status: upstream.statusCode ?? 502, headers: kept, body: bytes });
          }, fail);
        },
      );
      forwarded.on('error', fail);
      forwarded.end(body);
    });
  }

  #faultFor(method: string, path: string): Fault | undefined {
    const waiting = this.#rules.find(({ rule, left }) => left > 0 && rule.method === method && rule.path.test(path));
    if (waiting === undefined) return this.choose?.(method, path);
    waiting.left -= 1;
    return waiting.rule.fault;
  }

  #later(act: () => Promise<void>): void {
    const running = act().finally(() => this.#late.delete(running));
    this.#late.add(running);
    running.catch(() => undefined);
  }
}

interface Served {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function answer(response: ServerResponse, fault: { readonly status: number; readonly code: string }): void {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${fault.code}</Code><Message>injected</Message></Error>`;
  response.writeHead(fault.status, { 'content-type': 'application/xml', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
