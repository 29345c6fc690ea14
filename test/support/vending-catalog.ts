import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../../src/base/bigint-json.ts';

const credentialsEndpoint = 'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials';
const credentialsPath = /\/tables\/[^/]+\/credentials$/;

/**
 * Stands before a REST catalog and hands out storage credentials as it is told, as servers with a token service do. Everything else is the
 * catalog's.
 */
export class VendingCatalog {
  readonly uri: string;
  /** With the settings that go with them. */
  vended: Readonly<Record<string, string>> = {};
  /** Credentials end so long after they are handed out; `undefined`: nobody says when. */
  lifetimeMs: number | undefined;
  /** Whether there is an endpoint for them. */
  hasEndpoint = false;
  /** Requests that were answered with credentials. */
  readonly handedOut = { tables: 0, credentials: 0 };
  readonly #server: Server;
  readonly #target: string;

  private constructor(server: Server, target: string) {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the catalog has no port');
    this.uri = `http://127.0.0.1:${address.port}`;
    this.#server = server;
    this.#target = target;
  }

  static async start(target: string): Promise<VendingCatalog> {
    const server = createServer();
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const catalog = new VendingCatalog(server, target);
    server.on('request', (request, response) => {
      catalog.#serve(request, response).catch(() => response.destroy());
    });
    return catalog;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const sent = await textOf(request);
    if (this.hasEndpoint && credentialsPath.test(url)) {
      this.handedOut.credentials += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(printJson({ 'storage-credentials': this.#credentials() }));
      return;
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' && !/^(host|connection|content-length|accept-encoding|transfer-encoding)$/.test(name)
          ? [[name, value]]
          : [],
      ),
    );
    const answer = await fetch(`${this.#target}${url}`, { method, headers, ...(sent === '' ? {} : { body: sent }) });
    const text = await answer.text();
    const etag = answer.headers.get('etag');
    response.writeHead(answer.status, { 'content-type': 'application/json', ...(etag === null ? {} : { etag }) });
    response.end(answer.ok && text !== '' ? printJson(this.#changed(url, parseJson(text, url))) : text);
  }

  #changed(url: string, body: JsonValue): JsonValue {
    if (!isJsonObject(body)) return body;
    if (url.startsWith('/v1/config')) return this.#withEndpoint(body);
    // Java's server adds what it is told to; this one has the word.
    if (!('metadata' in body) || !('config' in body || 'storage-credentials' in body)) return body;
    this.handedOut.tables += 1;
    return { ...body, config: {}, 'storage-credentials': this.#credentials() };
  }

  #withEndpoint(body: JsonObject): JsonObject {
    const { endpoints } = body;
    const listed = Array.isArray(endpoints) ? endpoints.map(String).filter((endpoint) => endpoint !== credentialsEndpoint) : [];
    return { ...body, endpoints: this.hasEndpoint ? [...listed, credentialsEndpoint] : listed };
  }

  #credentials(): JsonValue {
    const end = this.lifetimeMs === undefined ? {} : { 's3.session-token-expires-at-ms': String(Date.now() + this.lifetimeMs) };
    return [{ prefix: 's3', config: { ...this.vended, ...end } }];
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
