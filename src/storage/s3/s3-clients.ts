import { createHash } from 'node:crypto';
import type * as Library from '@aws-sdk/client-s3';
import type { S3Settings } from './s3-settings.ts';

/** The vendor's library. */
export type S3Library = typeof Library;

/** A client with the library it belongs to. */
export interface S3Connection {
  readonly library: S3Library;
  readonly client: Library.S3Client;
  readonly conditions: ConditionTrust;
}

/** Whether the server is known to honour the condition of a put. AWS is; of others it must show. */
export interface ConditionTrust {
  trusted: boolean;
}

/** Clients kept at most: vended credentials make a fresh one for each table and hour. */
const maxClients = 64;
const connectTimeoutMs = 5_000;

/**
 * The clients of this thread by their settings, each with its own connections. The library is loaded with the first: who has no object
 * store pays nothing.
 */
export class S3Clients {
  readonly #connections = new Map<string, Promise<S3Connection>>();

  open(settings: S3Settings): Promise<S3Connection> {
    const key = keyOf(settings);
    const known = this.#connections.get(key) ?? openDoor(settings);
    // The last used is the last in the map. One that is dropped is used to its end by whoever holds it; its idle connections close.
    this.#connections.delete(key);
    this.#connections.set(key, known);
    const oldest = this.#connections.size > maxClients ? this.#connections.keys().next().value : undefined;
    if (oldest !== undefined) this.#connections.delete(oldest);
    known.catch(() => this.#connections.delete(key));
    return known;
  }
}

async function openDoor(settings: S3Settings): Promise<S3Connection> {
  const library = await import('@aws-sdk/client-s3');
  return { library, client: new library.S3Client(configOf(settings)), conditions: { trusted: settings.endpoint === undefined } };
}

function configOf(settings: S3Settings): Library.S3ClientConfig {
  const { endpoint, region, pathStyle, credentials, maxConnections, checksums } = settings;
  return {
    // A repeated conditional put would answer about its own first try; retries are one layer above.
    maxAttempts: 1,
    forcePathStyle: pathStyle,
    requestChecksumCalculation: checksums ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    // Objects are read by ranges, for which there is none; some servers send that of the whole object.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      httpAgent: { keepAlive: true, maxSockets: maxConnections },
      httpsAgent: { keepAlive: true, maxSockets: maxConnections },
    },
    ...(endpoint === undefined ? { followRegionRedirects: true } : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined
      ? {}
      : {
          credentials: {
            accessKeyId: credentials.accessKeyId.reveal(),
            secretAccessKey: credentials.secretAccessKey.reveal(),
            ...(credentials.sessionToken === undefined ? {} : { sessionToken: credentials.sessionToken.reveal() }),
          },
        }),
  };
}

function keyOf(settings: S3Settings): string {
  const { endpoint, region, pathStyle, credentials, requestTimeoutMs, maxConnections, checksums } = settings;
  const secret = [credentials?.accessKeyId, credentials?.secretAccessKey, credentials?.sessionToken].map((part) => part?.reveal() ?? '');
  const parts = [endpoint ?? '', region ?? '', pathStyle, requestTimeoutMs, maxConnections, checksums, ...secret];
  return createHash('sha256').update(parts.join('\0')).digest('hex');
}
