import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/base/errors.ts';
import type { StorageProperties } from '../../../../src/base/storage-settings.ts';
import { SystemClock } from '../../../../src/base/system-clock.ts';
import { S3Clients } from '../../../../src/storage/s3/s3-clients.ts';
import { s3Connections } from '../../../../src/storage/s3/s3-connections.ts';
import { S3Requests } from '../../../../src/storage/s3/s3-requests.ts';
import { VendedSettings } from '../../../../src/storage/vended-settings.ts';
import { StepClock } from '../../../support/step-clock.ts';

const pair = (name: string): StorageProperties => ({
  's3.endpoint': 'http://127.0.0.1:1',
  's3.access-key-id': name,
  's3.secret-access-key': 'secret',
});

/** What the vendor's client throws for a refused request. */
function refusal(code: string, status: number): Error {
  return Object.assign(new TypeError(code), { name: code, $metadata: { httpStatusCode: status } });
}

/** A store whose server accepts one key. The clients are real; nothing is sent. */
class Bucket {
  /** Of the renewals. */
  readonly clock = new StepClock();
  accepted = 'b';
  error = refusal('ExpiredToken', 400);
  readonly keys: string[] = [];
  asked = 0;
  ask: () => Promise<StorageProperties> = () => Promise.resolve(pair('b'));
  readonly requests: S3Requests;

  constructor(vended = true) {
    const settings = new VendedSettings({ ask: () => this.#ask(), renews: true, clock: this.clock });
    settings.offer(pair('a'));
    const connections = s3Connections(new S3Clients(), vended ? settings : pair('a'));
    this.requests = new S3Requests({ connections, clock: new SystemClock(), timeoutMs: 60_000 });
  }

  send(options: { readonly onceOnly?: boolean; readonly signal?: AbortSignal } = {}): Promise<unknown> {
    return this.requests.attempt({ sentBytes: 0, signal: options.signal, onceOnly: options.onceOnly }, async ({ client }) => {
      const { accessKeyId } = await client.config.credentials();
      this.keys.push(accessKeyId);
      if (accessKeyId !== this.accepted) throw this.error;
      return 'done';
    });
  }

  #ask(): Promise<StorageProperties> {
    this.asked += 1;
    return this.ask();
  }
}

const done = { kind: 'done', value: 'done' };

describe('a request whose credentials are refused', () => {
  it.each([
    ['a token that has expired', refusal('ExpiredToken', 400)],
    ['a token that is not known', refusal('InvalidToken', 400)],
    ['a key that is not known', refusal('InvalidAccessKeyId', 403)],
    ['an answer without a body', refusal('403', 403)],
  ])('is sent once more with others: %s', async (_, error) => {
    const bucket = new Bucket();
    bucket.error = error;
    expect(await bucket.send()).toEqual(done);
    expect(bucket.keys).toEqual(['a', 'b']);
    expect(await bucket.send()).toEqual(done);
    expect(bucket.keys).toEqual(['a', 'b', 'b']);
    expect(bucket.asked).toBe(1);
  });

  it('has them renewed once, however many there are', async () => {
    const bucket = new Bucket();
    expect(await Promise.all([bucket.send(), bucket.send(), bucket.send()])).toEqual([done, done, done]);
    expect(bucket.asked).toBe(1);
  });

  it('is not sent again when it makes a version, but the next has others', async () => {
    const bucket = new Bucket();
    const refused = { kind: 'failed', failure: { status: 400, code: 'ExpiredToken', renewable: true } };
    expect(await bucket.send({ onceOnly: true })).toEqual(refused);
    expect(bucket.keys).toEqual(['a']);
    expect(await bucket.send({ onceOnly: true })).toEqual(done);
  });

  it('is sent no third time at once, and may be later: others still may come', async () => {
    const bucket = new Bucket();
    bucket.accepted = 'c';
    const request = { what: 'put', bucket: 'b', root: 's3://b', path: 'p', changes: true };
    const failed = bucket.requests.send(request, { sentBytes: 0, signal: undefined }, async ({ client }) => {
      bucket.keys.push((await client.config.credentials()).accessKeyId);
      throw refusal('InvalidAccessKeyId', 403);
    });
    await expect(failed).rejects.toMatchObject({ code: 'STORAGE_ACCESS_DENIED', kind: 'unavailable' });
    expect(bucket.keys).toEqual(['a', 'b']);
  });

  it.each([
    ['a right that is missing', refusal('AccessDenied', 403)],
    ['a server in trouble', refusal('InternalError', 500)],
  ])('is told apart from %s', async (_, error) => {
    const bucket = new Bucket();
    bucket.error = error;
    expect(await bucket.send()).toMatchObject({ kind: 'failed' });
    expect(bucket.asked).toBe(0);
  });

  it('fails as it did where the credentials are the user’s own', async () => {
    const bucket = new Bucket(false);
    expect(await bucket.send()).toEqual({ kind: 'failed', failure: { status: 400, code: 'ExpiredToken' } });
    expect(bucket.keys).toEqual(['a']);
  });

  it('fails as the renewal does, and does not wait for it when it is cancelled', async () => {
    const bucket = new Bucket();
    const away = new ServiceError({ code: 'STORAGE_CREDENTIALS_NOT_RENEWED', kind: 'unavailable', message: 'away' });
    bucket.ask = () => Promise.reject(away);
    await expect(bucket.send()).rejects.toBe(away);
    bucket.clock.advance(60_000);
    bucket.ask = () => new Promise(() => undefined);
    const controller = new AbortController();
    const sent = bucket.send({ signal: controller.signal });
    controller.abort();
    await expect(sent).rejects.toMatchObject({ kind: 'aborted' });
  });
});
