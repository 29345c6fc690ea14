import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { putLocalFile } from '../../../src/engine/write/write-to-store.ts';
import { S3Clients } from '../../../src/storage/s3/s3-clients.ts';
import { s3Settings } from '../../../src/storage/s3/s3-settings.ts';
import { describeObjectStore, listed } from '../../conformance/object-store.ts';
import { obtainS3Server, type S3Server, startS3Server } from '../../support/s3-server.ts';
import { withTemporaryDirectory } from '../../support/servers.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

for (const kind of ['gofakes3', 'versitygw'] as const) {
  const program = await obtainS3Server(kind);
  if (program === undefined) {
    describe.skip(`${kind} as an object store`, () => {
      it('is tested where Go is installed', () => undefined);
    });
    continue;
  }
  const server: S3Server = await startS3Server(kind, program);
  afterAll(() => server.stop());
  const open = server.opener();
  const fresh = (): string => `s3://${server.bucket}/${randomUUID()}/table`;

  describeObjectStore(kind, async () => {
    const location = fresh();
    return Promise.resolve({ store: open(location), reopen: () => server.opener()(location) });
  });

  describe(`${kind} as an object store of many objects`, () => {
    it('lists page after page, from where it is told', async () => {
      const store = open(fresh());
      const names = Array.from({ length: 1_100 }, (_, index) => `log/${String(index).padStart(20, '0')}.json`);
      for (let from = 0; from < names.length; from += 50) {
        await Promise.all(names.slice(from, from + 50).map((name) => store.put(name, text(name))));
      }
      expect(await listed(store, '')).toEqual(names);
      expect(await listed(store, 'log/', names[1_050])).toEqual(names.slice(1_051));
    });

    it('passes over what stands for no object: folders of other tools', async () => {
      const location = fresh();
      const store = open(location);
      await store.put('a/b', text('1'));
      const { client, library } = await new S3Clients().open(s3Settings(server.properties()));
      const prefix = location.replace(`s3://${server.bucket}/`, '');
      await client.send(new library.PutObjectCommand({ Bucket: server.bucket, Key: `${prefix}/a/`, Body: new Uint8Array(0) }));
      expect(await listed(store, '')).toEqual(['a/b']);
    });

    it('uploads a local file in parts', async () => {
      await withTemporaryDirectory(async (dir) => {
        const bytes = new Uint8Array(20 << 20).map((_, index) => (index * 7) % 253);
        const file = join(dir, 'large');
        await writeFile(file, bytes);
        const store = open(fresh());
        await putLocalFile(store, 'large', file);
        expect(await store.head('large')).toMatchObject({ sizeBytes: bytes.byteLength });
        expect(Buffer.compare(await store.read('large'), bytes)).toBe(0);
      });
    });
  });
}
