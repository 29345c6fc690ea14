import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { throwIfAborted } from '../../base/abort.ts';
import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { ObjectInfo, ObjectStore, PutIfAbsentResult } from '../object-store.ts';
import { checkPath } from '../path.ts';
import type { S3Connections } from './s3-connections.ts';
import { type S3Failure, type S3Request, s3Error } from './s3-errors.ts';
import { listBucket } from './s3-listing.ts';
import { type S3Location, s3Uri } from './s3-location.ts';
import { readBody, type S3Answer, S3Requests } from './s3-requests.ts';
import { bytesSource, multipartThresholdBytes, type UploadSource, uploadInParts, withFileSource } from './s3-upload.ts';

export interface S3ObjectStoreParts {
  readonly location: S3Location;
  /** To the client, which is opened with the first request. */
  readonly connections: S3Connections;
  readonly clock: Clock;
  readonly requestTimeoutMs: number;
  readonly checksums: boolean;
}

/** Objects are read in pieces of this size, a few at a time. */
const pieceBytes: number = 8 << 20;
const piecesInFlight = 4;
/** How often a conditional put that met another under way is repeated; it did nothing each time. */
const maxConditionalAttempts = 6;
const conditionalPauseMs = 50;

/**
 * Objects of a bucket of S3, or of a server that speaks its protocol, below a prefix.
 *
 * `putIfAbsent` is one PUT with `If-None-Match: *`, which the server must honour, and is never cancelled once it is sent. One attempt each, but
 * for what certainly did nothing: a conditional put that met another under way, and credentials that have ended where others are to be had
 * (`S3Requests`). Whoever wants retries puts `RetryingObjectStore` in front. Errors beside those of every store: `STORAGE_ACCESS_DENIED`,
 * `STORAGE_BUCKET_NOT_FOUND`, `STORAGE_REQUEST_REFUSED` (invalid), `STORAGE_REQUEST_UNSUPPORTED`, `STORAGE_CONDITION_IGNORED`,
 * `STORAGE_LISTING_UNORDERED` (unsupported).
 */
export class S3ObjectStore implements ObjectStore {
  readonly root: string;
  readonly #parts: S3ObjectStoreParts;
  readonly #requests: S3Requests;

  constructor(parts: S3ObjectStoreParts) {
    this.#parts = parts;
    this.root = s3Uri(parts.location);
    this.#requests = new S3Requests({ connections: parts.connections, clock: parts.clock, timeoutMs: parts.requestTimeoutMs });
  }

  async read(path: string, signal?: AbortSignal): Promise<Uint8Array> {
    this.#enter(path, signal);
    const first = await this.#readPiece(path, { from: 0, until: pieceBytes }, signal);
    if (first === undefined) return new Uint8Array(0);
    const { bytes, totalBytes, etag } = first;
    if (totalBytes <= bytes.byteLength) return bytes;
    const whole = new Uint8Array(totalBytes);
    whole.set(bytes);
    let next = bytes.byteLength;
    const worker = async (): Promise<void> => {
      while (next < totalBytes) {
        const from = next;
        next += pieceBytes;
        const piece = await this.#readPiece(path, { from, until: Math.min(totalBytes, from + pieceBytes) }, signal);
        // Another object under the same name: the pieces do not belong together.
        if (piece?.etag !== etag || piece?.totalBytes !== totalBytes)
          throw this.#error('read', path, { status: undefined, code: 'Replaced' });
        whole.set(piece.bytes, from);
      }
    };
    await Promise.all(Array.from({ length: piecesInFlight }, worker));
    return whole;
  }

  async readRange(path: string, range: { readonly from: number; readonly until: number }, signal?: AbortSignal): Promise<Uint8Array> {
    this.#enter(path, signal);
    if (range.until <= range.from) {
      if ((await this.head(path, signal)) === undefined) throw this.#error('read', path, { status: 404, code: 'NoSuchKey' });
      return new Uint8Array(0);
    }
    const piece = await this.#readPiece(path, range, signal);
    return piece?.bytes ?? new Uint8Array(0);
  }

  async head(path: string, signal?: AbortSignal): Promise<ObjectInfo | undefined> {
    this.#enter(path, signal);
    const answer = await this.#requests.attempt({ sentBytes: 0, signal }, ({ client, library }, abortSignal) =>
      client.send(new library.HeadObjectCommand(this.#place(path)), { abortSignal }),
    );
    if (answer.kind === 'done') {
      const { ContentLength: sizeBytes = 0, LastModified: modified, ETag: etag } = answer.value;
      return { path, sizeBytes, modifiedMs: modified?.getTime() ?? 0, etag };
    }
    // An answer without a body does not say whether it is the object or the bucket that is missing.
    if (answer.failure.status === 404) return undefined;
    throw this.#error('head', path, answer.failure);
  }

  async *list(
    options: { readonly prefix: string; readonly startAfter?: string | undefined },
    signal?: AbortSignal,
  ): AsyncIterable<ObjectInfo> {
    throwIfAborted(signal);
    yield* listBucket({ requests: this.#requests, location: this.#parts.location, root: this.root }, options, signal);
  }

  async put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    this.#enter(path, signal);
    await this.#upload(path, bytesSource(bytes), signal);
  }

  /** Uploads a local file in the memory of a few parts. As `put`. */
  async putFile(path: string, file: string, signal?: AbortSignal): Promise<void> {
    this.#enter(path, signal);
    await withFileSource(file, (source) => this.#upload(path, source, signal));
  }

  async putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult> {
    this.#enter(path, signal);
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#putOnce(path, bytes);
      if (answer.kind === 'done') {
        await this.#checkCondition(path, bytes);
        return 'created';
      }
      if (answer.failure.status === 412) return 'exists';
      // ConditionalRequestConflict: another was under way, and this one did nothing.
      if (answer.failure.status !== 409) throw this.#error('create', path, answer.failure);
      if ((await this.head(path)) !== undefined) return 'exists';
      if (attempt >= maxConditionalAttempts) throw this.#error('create', path, answer.failure);
      await this.#parts.clock.sleep(conditionalPauseMs * attempt, signal);
    }
  }

  async delete(path: string, signal?: AbortSignal): Promise<void> {
    this.#enter(path, signal);
    const answer = await this.#requests.attempt({ sentBytes: 0, signal }, ({ client, library }, abortSignal) =>
      client.send(new library.DeleteObjectCommand(this.#place(path)), { abortSignal }),
    );
    if (answer.kind === 'done' || (answer.failure.status === 404 && answer.failure.code !== 'NoSuchBucket')) return;
    throw this.#error('delete', path, answer.failure);
  }

  /**
   * A server that ignores the condition in silence would let writers overwrite each other. It is found out with the first object that is made:
   * the same again must be refused. (Were it not, the same bytes would stand there.) Anything but a plain answer decides nothing.
   */
  async #checkCondition(path: string, bytes: Uint8Array): Promise<void> {
    const { conditions } = await this.#parts.connections.open();
    if (conditions.trusted) return;
    const answer = await this.#putOnce(path, bytes);
    if (answer.kind === 'done') throw conditionIgnored(this.root, path);
    if (answer.failure.status === 412) conditions.trusted = true;
  }

  #putOnce(path: string, bytes: Uint8Array): Promise<S3Answer<unknown>> {
    // No signal: once it is sent, only its own answer tells what happened. And once only, whatever the answer is.
    return this.#requests.attempt({ sentBytes: bytes.byteLength, signal: undefined, onceOnly: true }, ({ client, library }, abortSignal) =>
      client.send(new library.PutObjectCommand({ ...this.#place(path), Body: bytes, IfNoneMatch: '*' }), { abortSignal }),
    );
  }

  #enter(path: string, signal: AbortSignal | undefined): void {
    checkPath(path);
    throwIfAborted(signal);
  }

  #place(path: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#parts.location.bucket, Key: `${this.#parts.location.prefix}${path}` };
  }

  async #upload(path: string, source: UploadSource, signal: AbortSignal | undefined): Promise<void> {
    const request = this.#request('put', path);
    if (source.sizeBytes >= multipartThresholdBytes) {
      await uploadInParts({
        requests: this.#requests,
        checksums: this.#parts.checksums,
        request,
        key: this.#place(path).Key,
        source,
        signal,
      });
      return;
    }
    const body = await source.read(0, source.sizeBytes);
    await this.#requests.send(request, { sentBytes: body.byteLength, signal }, ({ client, library }, abortSignal) =>
      client.send(new library.PutObjectCommand({ ...this.#place(path), Body: body }), { abortSignal }),
    );
  }

  /** Bytes of an object; `undefined` when it ends before them. */
  async #readPiece(
    path: string,
    range: { readonly from: number; readonly until: number },
    signal: AbortSignal | undefined,
  ): Promise<Piece | undefined> {
    const answer = await this.#requests.attempt({ sentBytes: 0, signal }, async ({ client, library }, abortSignal, expectBytes) => {
      const get = { ...this.#place(path), Range: `bytes=${range.from}-${range.until - 1}` };
      const output = await client.send(new library.GetObjectCommand(get), { abortSignal });
      expectBytes(output.ContentLength ?? 0);
      return pieceOf(output, range, abortSignal);
    });
    if (answer.kind === 'done') return answer.value;
    if (answer.failure.status === 416) return undefined;
    throw this.#error('read', path, answer.failure);
  }

  #request(what: Operation, path: string): S3Request {
    const changes = what !== 'read' && what !== 'head';
    return { what, bucket: this.#parts.location.bucket, root: this.root, path, changes };
  }

  #error(what: Operation, path: string, failure: S3Failure): ServiceError {
    return s3Error(failure, this.#request(what, path));
  }
}

type Operation = 'read' | 'head' | 'put' | 'create' | 'delete';

interface Piece {
  readonly bytes: Uint8Array;
  /** Of the whole object. */
  readonly totalBytes: number;
  readonly etag: string | undefined;
}

async function pieceOf(
  output: GetObjectCommandOutput,
  range: { readonly from: number; readonly until: number },
  signal: AbortSignal,
): Promise<Piece> {
  const bytes = await readBody(output.Body, output.ContentLength, signal);
  const served = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(output.ContentRange ?? '');
  // A server that does not know ranges sends all there is.
  if (served === null) return { bytes: bytes.slice(range.from, range.until), totalBytes: bytes.byteLength, etag: output.ETag };
  assert(Number(served[1]) === range.from, 'the server sends the range that was asked for');
  return { bytes, totalBytes: Number(served[3]), etag: output.ETag };
}

function conditionIgnored(root: string, path: string): ServiceError {
  return serviceError.unsupported(
    'STORAGE_CONDITION_IGNORED',
    `${root}: the server created "${path}" although it was there: it ignores If-None-Match`,
    {
      hint: 'use an object store that honours If-None-Match: * on PUT; on this one writers overwrite each other, and what was written may be lost',
    },
  );
}
