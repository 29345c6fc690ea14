import { Readable } from 'node:stream';
import { unlessAborted } from '../../base/abort.ts';
import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { isServiceError } from '../../base/errors.ts';
import { withDeadline } from './deadline.ts';
import type { S3Connection } from './s3-clients.ts';
import type { S3Connections } from './s3-connections.ts';
import { credentialsMayHaveEnded, failureOf, type S3Failure, type S3Request, s3Error } from './s3-errors.ts';

/** A transfer that is slower than this over its whole length is given up. */
const minBytesPerMs = 64;

/** What came of a request. */
export type S3Answer<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'failed'; readonly failure: S3Failure };

export interface S3CallOptions {
  /** Bytes that are sent, for the deadline. */
  readonly sentBytes: number;
  /** Absent: the request cannot be cancelled once it is sent. */
  readonly signal: AbortSignal | undefined;
  /** Not sent again with other credentials either. */
  readonly onceOnly?: boolean | undefined;
}

type Run<T> = (connection: S3Connection, signal: AbortSignal, expectBytes: (count: number) => void) => Promise<T>;

/**
 * Sends requests, one attempt each, within a deadline. A request whose credentials are not accepted did nothing: it is sent once more with others,
 * where there are others.
 */
export class S3Requests {
  readonly #connections: S3Connections;
  readonly #clock: Clock;
  readonly #timeoutMs: number;

  constructor(parts: { readonly connections: S3Connections; readonly clock: Clock; readonly timeoutMs: number }) {
    this.#connections = parts.connections;
    this.#clock = parts.clock;
    this.#timeoutMs = parts.timeoutMs;
  }

  /** `run` tells of the bytes that are to be received. @throws ServiceError `ABORTED`, and what a renewal of credentials failed with. */
  async attempt<T>(options: S3CallOptions, run: Run<T>): Promise<S3Answer<T>> {
    const { signal, onceOnly = false } = options;
    const connection = await unlessAborted(this.#connections.open(), signal);
    const answer = await this.#sendOnce(connection, options, run);
    if (answer.kind === 'done' || !credentialsMayHaveEnded(answer.failure)) return answer;
    // Asked for even where nothing is sent again: the next request has them.
    const other = await unlessAborted(this.#connections.insteadOf(connection), signal);
    const last = other === undefined || onceOnly ? answer : await this.#sendOnce(other, options, run);
    if (last.kind === 'done' || !this.#connections.renews || !credentialsMayHaveEnded(last.failure)) return last;
    return { kind: 'failed', failure: { ...last.failure, renewable: true } };
  }

  /** @throws ServiceError what `s3Error` makes of a failure; as `attempt`. */
  async send<T>(
    request: S3Request,
    options: S3CallOptions,
    run: (connection: S3Connection, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const answer = await this.attempt(options, run);
    if (answer.kind === 'done') return answer.value;
    throw s3Error(answer.failure, request);
  }

  async #sendOnce<T>(connection: S3Connection, options: S3CallOptions, run: Run<T>): Promise<S3Answer<T>> {
    const durationMs = this.#timeoutMs + Math.ceil(options.sentBytes / minBytesPerMs);
    try {
      const value = await withDeadline(this.#clock, { durationMs, signal: options.signal }, ({ signal, extend }) =>
        run(connection, signal, (count) => {
          extend(Math.ceil(count / minBytesPerMs));
        }),
      );
      return { kind: 'done', value };
    } catch (error) {
      if (isServiceError(error, 'aborted')) throw error;
      if (isServiceError(error)) return { kind: 'failed', failure: { status: undefined, code: error.code } };
      return { kind: 'failed', failure: failureOf(error) };
    }
  }
}

/**
 * The body of an answer, whole.
 *
 * @throws what the stream fails with; `TruncatedBody` when it ends before `expectedBytes`.
 */
export async function readBody(body: unknown, expectedBytes: number | undefined, signal: AbortSignal): Promise<Uint8Array> {
  assert(body instanceof Readable, 'the body of an answer is a stream');
  const onAbort = (): void => {
    body.destroy();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal.aborted) onAbort();
    const chunks: Uint8Array[] = [];
    let total = 0;
    for await (const chunk of body) {
      assert(chunk instanceof Uint8Array, 'the body of an answer is bytes');
      chunks.push(chunk);
      total += chunk.byteLength;
    }
    if (expectedBytes !== undefined && total !== expectedBytes) throw truncated();
    return joined(chunks, total);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function joined(chunks: readonly Uint8Array[], total: number): Uint8Array {
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

function truncated(): Error {
  const error = new TypeError('the answer ended too early');
  error.name = 'TruncatedBody';
  return error;
}
