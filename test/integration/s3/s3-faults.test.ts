import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import type { ObjectStore } from '../../../src/storage/object-store.ts';
import { RetryingObjectStore } from '../../../src/storage/retrying-object-store.ts';
import { listed } from '../../conformance/object-store.ts';
import { type Fault, FaultProxy } from '../../support/fault-proxy.ts';
import { obtainS3Server, startS3Server } from '../../support/s3-server.ts';

const program = await obtainS3Server('versitygw');
const server = program === undefined ? undefined : await startS3Server('versitygw', program);
const laxProgram = await obtainS3Server('gofakes3');
const lax = laxProgram === undefined ? undefined : await startS3Server('gofakes3', laxProgram);
const proxy = server === undefined ? undefined : await FaultProxy.start(server.endpoint);
afterAll(async () => {
  await proxy?.close();
  await server?.stop();
  await lax?.stop();
});

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const conflict = { status: 409, code: 'ConditionalRequestConflict' } as const;
const slowDown = { status: 503, code: 'SlowDown' } as const;

describe.skipIf(server === undefined)('an object store whose network fails', () => {
  const faults = proxy as FaultProxy;
  let store: ObjectStore;
  /** The same bucket without the proxy. */
  let direct: ObjectStore;

  beforeEach(() => {
    faults.reset();
    const location = `s3://${server?.bucket ?? ''}/${randomUUID()}`;
    const patience = { 's3.request-timeout-ms': '1000' };
    store = server?.opener(faults.endpoint, patience)(location) as ObjectStore;
    direct = server?.opener()(location) as ObjectStore;
  });
  const retrying = (): ObjectStore => new RetryingObjectStore(store, { clock: new SystemClock(), random: new SystemRandom() });
  const stored = async (path: string): Promise<string | undefined> =>
    (await direct.head(path)) === undefined ? undefined : Buffer.from(await direct.read(path)).toString();

  describe('putIfAbsent', () => {
    const put = (): Promise<unknown> => store.putIfAbsent('log/1', text('ours'));
    const unknown = { code: 'STORAGE_OUTCOME_UNKNOWN', kind: 'unknown-outcome' };

    it.each<readonly [string, Fault, string | undefined]>([
      ['the connection is cut before the request arrives', { kind: 'drop-request' }, undefined],
      ['the answer is lost', { kind: 'drop-response' }, 'ours'],
      ['no answer ever comes', { kind: 'never-answer' }, 'ours'],
      ['the server says 500 and did nothing', { kind: 'answer', status: 500, code: 'InternalError' }, undefined],
      ['the server says 500 and did it', { kind: 'answer-after', status: 500, code: 'InternalError' }, 'ours'],
      ['the server says 503 and did nothing', { kind: 'answer', ...slowDown }, undefined],
      ['the server says 503 and did it', { kind: 'answer-after', ...slowDown }, 'ours'],
    ])('does not know what happened when %s, and asks once', async (_, fault, found) => {
      faults.fail({ method: 'PUT', path: /log\/1/, fault });
      await expect(put()).rejects.toMatchObject(unknown);
      expect(faults.count('PUT', /log\/1/)).toBe(1);
      expect(await stored('log/1')).toBe(found);
    });

    it('does not know what happened when the server does it later', async () => {
      faults.fail({ method: 'PUT', path: /log\/1/, fault: { kind: 'apply-late', delayMs: 300 } });
      await expect(put()).rejects.toMatchObject(unknown);
      expect(await stored('log/1')).toBeUndefined();
      await faults.settled();
      expect(await stored('log/1')).toBe('ours');
    });

    it('repeats what the server refused because another was under way', async () => {
      await store.putIfAbsent('log/0', text('of a server that is trusted'));
      faults.reset();
      faults.fail({ method: 'PUT', path: /log\/1/, fault: { kind: 'answer', ...conflict }, times: 2 });
      expect(await put()).toBe('created');
      expect(faults.seen.map(({ method }) => method)).toEqual(['PUT', 'HEAD', 'PUT', 'HEAD', 'PUT']);
    });

    it('finds the other that was under way', async () => {
      await direct.put('log/1', text('theirs'));
      faults.fail({ method: 'PUT', path: /log\/1/, fault: { kind: 'answer', ...conflict } });
      expect(await put()).toBe('exists');
      expect(await stored('log/1')).toBe('theirs');
    });

    it('gives up after a few conflicts, having changed nothing', async () => {
      faults.fail({ method: 'PUT', path: /log\/1/, fault: { kind: 'answer', ...conflict }, times: 100 });
      await expect(put()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', kind: 'unavailable' });
      expect(faults.count('PUT', /log\/1/)).toBeLessThan(10);
      expect(await stored('log/1')).toBeUndefined();
    });

    it.each([409, 412])('says that the object exists when a %i answers what the server did', async (status) => {
      faults.fail({ method: 'PUT', path: /log\/1/, fault: { kind: 'answer-after', status, code: 'PreconditionFailed' } });
      expect(await put()).toBe('exists');
    });

    it('says what is for good at once, with its cure and without the keys', async () => {
      faults.fail({ method: 'PUT', path: /log\/1/, fault: { kind: 'answer', status: 403, code: 'AccessDenied' } });
      const failed = put();
      await expect(failed).rejects.toMatchObject({ code: 'STORAGE_ACCESS_DENIED', kind: 'invalid', retryable: false });
      await expect(failed).rejects.toMatchObject({ hint: expect.stringContaining('s3:PutObject') as string });
      faults.fail({ method: 'PUT', path: /log\/1/, fault: { kind: 'answer', status: 501, code: 'NotImplemented' } });
      await expect(put()).rejects.toMatchObject({ code: 'STORAGE_REQUEST_UNSUPPORTED', kind: 'unsupported' });
    });

    it('is not cancelled once it is sent', async () => {
      const controller = new AbortController();
      faults.fail({ method: 'PUT', path: /log\/1/, fault: { kind: 'slow', pauseMs: 1 } });
      const putting = store.putIfAbsent('log/1', text('ours'), controller.signal);
      controller.abort();
      expect(await putting).toBe('created');
    });

    it('has one winner of sixteen while answers are lost, and the others are told so or know nothing', async () => {
      for (let round = 0; round < 5; round++) {
        faults.fail({ method: 'PUT', path: new RegExp(`race/${round}`), fault: { kind: 'drop-response' }, times: 5 });
        const racers = Array.from({ length: 16 }, (_, index) => store.putIfAbsent(`race/${round}`, text(`writer ${index}`)));
        const results = await Promise.allSettled(racers);
        const created = results.flatMap((result, index) => (result.status === 'fulfilled' && result.value === 'created' ? [index] : []));
        expect(created.length).toBeLessThanOrEqual(1);
        const winner = Number((await stored(`race/${round}`))?.replace('writer ', ''));
        if (created.length === 1) expect(winner).toBe(created[0]);
        else expect(results[winner]).toMatchObject({ status: 'rejected', reason: unknown });
      }
    });
  });

  describe('reading', () => {
    beforeEach(async () => {
      await direct.put('data', text('0123456789'.repeat(1000)));
    });

    it.each<readonly [string, Fault]>([
      ['the body is cut', { kind: 'cut', afterBytes: 5000 }],
      ['the body trickles', { kind: 'slow', pauseMs: 50 }],
      ['no answer comes', { kind: 'never-answer' }],
      ['the server wants it slower', { kind: 'answer', ...slowDown }],
      ['the server fails', { kind: 'answer', status: 500, code: 'InternalError' }],
      ['the connection is cut', { kind: 'drop-request' }],
    ])('is repeated when %s', async (_, fault) => {
      faults.fail({ method: 'GET', path: /data/, fault });
      await expect(store.read('data')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', kind: 'unavailable' });
      faults.fail({ method: 'GET', path: /data/, fault });
      expect(await retrying().readRange('data', { from: 3, until: 8 })).toEqual(text('34567'));
    });

    it('never takes a failing server for an object that is not there', async () => {
      for (const status of [403, 500, 503]) {
        faults.fail({ method: 'HEAD', path: /data/, fault: { kind: 'answer', status, code: 'Whatever' } });
        await expect(store.head('data')).rejects.toMatchObject({ kind: status === 403 ? 'invalid' : 'unavailable' });
      }
      faults.fail({ method: 'GET', path: /data/, fault: { kind: 'answer', status: 404, code: 'NoSuchBucket' } });
      await expect(store.read('data')).rejects.toMatchObject({ code: 'STORAGE_BUCKET_NOT_FOUND', kind: 'invalid' });
    });

    it('lists on where it failed', async () => {
      for (const name of ['a', 'b', 'c']) await direct.put(`list/${name}`, text('x'));
      faults.fail({ method: 'GET', path: /list-type=2/, fault: { kind: 'cut', afterBytes: 200 } });
      expect(await listed(retrying(), 'list/')).toEqual(['list/a', 'list/b', 'list/c']);
    });

    it('ends at once when it is cancelled', async () => {
      const controller = new AbortController();
      faults.fail({ method: 'GET', path: /data/, fault: { kind: 'slow', pauseMs: 20 } });
      const reading = store.read('data', controller.signal);
      setTimeout(() => {
        controller.abort();
      }, 100);
      await expect(reading).rejects.toMatchObject({ code: 'ABORTED' });
    });
  });

  describe('a large put', () => {
    const large = new Uint8Array(33 << 20).map((_, index) => index % 251);

    it('goes up in parts and comes back whole', async () => {
      await store.put('large', large);
      expect(faults.count('PUT', /partNumber/)).toBe(3);
      expect(Buffer.compare(await store.read('large'), large)).toBe(0);
    });

    it('gives a failed upload back', async () => {
      faults.fail({ method: 'PUT', path: /partNumber=2/, fault: { kind: 'drop-response' } });
      await expect(store.put('large', large)).rejects.toMatchObject({ kind: 'unknown-outcome' });
      expect(faults.count('DELETE', /uploadId/)).toBe(1);
      expect(faults.count('POST', /uploadId/)).toBe(0);
      expect(await direct.head('large')).toBeUndefined();
      await retrying().put('large', large);
      expect(await direct.head('large')).toMatchObject({ sizeBytes: large.byteLength });
    });

    it('leaves an upload alone whose last step may have been done', async () => {
      faults.fail({ method: 'POST', path: /uploadId/, fault: { kind: 'drop-response' } });
      await expect(store.put('large', large)).rejects.toMatchObject({ code: 'STORAGE_OUTCOME_UNKNOWN' });
      expect(faults.count('DELETE', /uploadId/)).toBe(0);
      expect(await direct.head('large')).toMatchObject({ sizeBytes: large.byteLength });
    });
  });

  it('says that a server which cannot be reached was not reached', async () => {
    const gone = server?.opener('http://127.0.0.1:1')('s3://bucket/x') as ObjectStore;
    await expect(gone.putIfAbsent('x', text('1'))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', kind: 'unavailable' });
  });

  it('says that keys are wrong, and does not show them', async () => {
    const wrong = server?.opener(undefined, { 's3.secret-access-key': 'not-the-secret' })(direct.root) as ObjectStore;
    const failed = wrong.read('x');
    await expect(failed).rejects.toMatchObject({
      code: 'STORAGE_ACCESS_DENIED',
      hint: expect.stringContaining('secret access key') as string,
    });
    const shown = await failed.catch((error: unknown) => (error instanceof Error ? `${error.stack ?? ''}${String(error.cause)}` : ''));
    expect(shown).not.toMatch(/not-the-secret|Signature=|StringToSign/);
  });
});

describe.skipIf(lax === undefined)('an object store that is not AWS', () => {
  it('is refused with the first object when it ignores conditions, and trusted from then on when it does not', async () => {
    const between = await FaultProxy.start(lax?.endpoint ?? '');
    try {
      const location = `s3://${lax?.bucket ?? ''}/${randomUUID()}`;
      const open = (): ObjectStore => lax?.opener(between.endpoint)(location) as ObjectStore;
      between.ignoresConditions = true;
      const ignorant = open();
      for (const name of ['a', 'b']) {
        await expect(ignorant.putIfAbsent(name, text('x'))).rejects.toMatchObject({
          code: 'STORAGE_CONDITION_IGNORED',
          kind: 'unsupported',
        });
      }
      between.reset();
      const honest = open();
      for (const name of ['c', 'd', 'e']) expect(await honest.putIfAbsent(name, text('x'))).toBe('created');
      expect(await honest.putIfAbsent('e', text('x'))).toBe('exists');
      expect(between.count('PUT', /./)).toBe(5);
    } finally {
      await between.close();
    }
  });

  it('is not judged by an answer that says nothing', async () => {
    const between = await FaultProxy.start(lax?.endpoint ?? '');
    try {
      const store = lax?.opener(between.endpoint)(`s3://${lax.bucket}/${randomUUID()}`) as ObjectStore;
      let puts = 0;
      // The second put is the one that looks at the server.
      between.choose = (method) => (method === 'PUT' && ++puts === 2 ? { kind: 'drop-response' } : undefined);
      expect(await store.putIfAbsent('a', text('x'))).toBe('created');
      expect(await store.putIfAbsent('b', text('x'))).toBe('created');
      expect(puts).toBe(4);
    } finally {
      await between.close();
    }
  });

  it('is refused when it does not list in order', async () => {
    const entry = (key: string): string =>
      `<Contents><Key>t/${key}</Key><Size>1</Size><LastModified>2024-01-01T00:00:00.000Z</LastModified></Contents>`;
    const listing = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(`<ListBucketResult><EncodingType>url</EncodingType>${['a%2Bb+c', 'd', 'b'].map(entry).join('')}</ListBucketResult>`);
    });
    await new Promise<void>((ready) => listing.listen(0, '127.0.0.1', ready));
    try {
      const { port } = listing.address() as AddressInfo;
      const store = lax?.opener(`http://127.0.0.1:${port}`)('s3://bucket/t') as ObjectStore;
      const found: string[] = [];
      const list = async (): Promise<void> => {
        for await (const { path } of store.list({ prefix: '' })) found.push(path);
      };
      await expect(list()).rejects.toMatchObject({ code: 'STORAGE_LISTING_UNORDERED', kind: 'unsupported' });
      expect(found).toEqual(['a+b c', 'd']);
    } finally {
      listing.closeAllConnections();
      listing.close();
    }
  });
});
