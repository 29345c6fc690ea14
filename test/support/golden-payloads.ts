import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { gunzipSync } from 'node:zlib';

/** A schema as the registry of the capture had it. */
export interface CapturedSchema {
  readonly id: number;
  readonly schema: string;
  readonly references: readonly { readonly name: string; readonly subject: string; readonly version: number }[];
  readonly subjects: readonly (readonly [subject: string, version: number])[];
}

/** A record of another serializer, and what must become of it. */
export interface CapturedRecord {
  readonly record: {
    readonly topic: string;
    readonly partition: number;
    readonly offset: number;
    readonly key: string | null;
    readonly value: string | null;
  };
  readonly expectedKey: unknown;
  /** The row as JSON text, as it is written: a parsed `-0.0` would lose its sign. `null`: none. */
  readonly row: string;
}

export interface GoldenPayloads {
  readonly schemas: readonly CapturedSchema[];
  readonly records: readonly CapturedRecord[];
}

const rowMark = '"row": ';

/** The capture of test/golden/payloads (see CATALOGUE.md there). */
export function goldenPayloads(encoding: 'avro' | 'json-schema' | 'protobuf' = 'avro'): GoldenPayloads {
  const text = gunzipSync(readFileSync(new URL(`../golden/payloads/${encoding}.jsonl.gz`, import.meta.url))).toString('utf8');
  const schemas: CapturedSchema[] = [];
  const records: CapturedRecord[] = [];
  for (const line of text.trimEnd().split('\n')) {
    const parsed = JSON.parse(line) as { readonly schema?: CapturedSchema } & Omit<CapturedRecord, 'row'>;
    if (parsed.schema !== undefined) schemas.push(parsed.schema);
    else records.push({ ...parsed, row: line.slice(line.lastIndexOf(rowMark) + rowMark.length, -1) });
  }
  return { schemas, records };
}

/** A registry of the captured schemas, on a port of its own. */
export class CapturedRegistry {
  readonly #schemas: readonly CapturedSchema[];
  readonly #schemaType: string;
  readonly #hidden = new Set<number>();
  readonly #server: Server;
  #away = false;
  /** Paths in the order they were asked for. */
  readonly asked: string[] = [];

  readonly #scheme: 'http' | 'https';

  /** `tls`: a key and a certificate for 127.0.0.1. */
  constructor(
    schemas: readonly CapturedSchema[],
    schemaType: 'AVRO' | 'PROTOBUF' = 'AVRO',
    tls?: { readonly key: Buffer; readonly cert: Buffer },
  ) {
    this.#schemas = schemas;
    this.#schemaType = schemaType;
    this.#scheme = tls === undefined ? 'http' : 'https';
    const answer: RequestListener = (request, response) => {
      const path = request.url ?? '';
      this.asked.push(path);
      const found = this.#find(path);
      response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/vnd.schemaregistry.v1+json' });
      response.end(JSON.stringify(found ?? { error_code: 40_403, message: `Schema not found: ${path}` }));
    };
    this.#server = tls === undefined ? createServer(answer) : createSecureServer(tls, answer);
    this.#server.on('connection', (socket) => {
      if (this.#away) socket.destroy();
    });
  }

  get url(): string {
    const address = this.#server.address();
    return `${this.#scheme}://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`;
  }

  /** From now on it has no such schema, until it is shown. */
  hide(id: number): void {
    this.#hidden.add(id);
  }

  show(id: number): void {
    this.#hidden.delete(id);
  }

  /** From now on connections to it break off; its port stays its own. */
  leave(): void {
    this.#away = true;
    this.#server.closeAllConnections();
  }

  comeBack(): void {
    this.#away = false;
  }

  async start(): Promise<void> {
    await new Promise<void>((listening, failed) => {
      this.#server.once('error', failed);
      this.#server.listen(0, '127.0.0.1', listening);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((closed) => {
      this.#server.close(() => {
        closed();
      });
    });
  }

  #find(path: string): unknown {
    const id = /^\/schemas\/ids\/(\d+)$/.exec(path)?.[1];
    const [, subject, version] = /^\/subjects\/([^/]+)\/versions\/(\d+)$/.exec(path) ?? [];
    const found = this.#schemas.find(
      (schema) =>
        (id !== undefined && schema.id === Number(id)) ||
        schema.subjects.some(([name, number]) => name === decodeURIComponent(subject ?? '') && number === Number(version)),
    );
    return found === undefined || this.#hidden.has(found.id)
      ? undefined
      : { schemaType: this.#schemaType, schema: found.schema, references: found.references };
  }
}
