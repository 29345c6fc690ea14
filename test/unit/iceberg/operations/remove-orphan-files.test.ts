import { describe, expect, it } from 'vitest';
import { removeOrphanFiles } from '../../../../src/iceberg/operations/orphans/remove-orphan-files.ts';
import { icebergProcedures } from '../../../../src/iceberg/operations/procedures/iceberg-procedures.ts';
import type { TableContext } from '../../../../src/iceberg/table-context.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import type { ProcedureValue } from '../../../../src/table/queries.ts';
import { change, created, dataFile, memoryContext, memoryLocation, pathsBelow } from '../../../support/iceberg/memory-table.ts';

const always = Number.MAX_SAFE_INTEGER;

async function withFiles(context: TableContext, names: readonly string[], spelled = memoryLocation): Promise<void> {
  let state = await created(context);
  const path = `${spelled}/data/live.parquet`;
  await context.files.put(`${memoryLocation}/data/live.parquet`, Uint8Array.of(1));
  state = await commitSnapshot(context, state, change({ added: [dataFile('live', { path })] }));
  await commitSnapshot(context, state, change({ added: [dataFile('later')] }));
  for (const name of names) await context.files.put(`${memoryLocation}/${name}`, Uint8Array.of(1, 2, 3));
}

describe('removeOrphanFiles', () => {
  it('deletes what nothing refers to, and neither data nor metadata of any snapshot', async () => {
    const context = memoryContext();
    await withFiles(context, ['data/orphan.parquet', 'metadata/left-over.avro']);
    const before = await pathsBelow(context);
    const found = await removeOrphanFiles(context, { olderThanMs: always, dryRun: true });
    expect(found).toEqual({
      locations: [`${memoryLocation}/data/orphan.parquet`, `${memoryLocation}/metadata/left-over.avro`],
      fileCount: 2,
      sizeBytes: 6,
    });
    expect(await pathsBelow(context)).toEqual(before);
    expect(await removeOrphanFiles(context, { olderThanMs: always })).toEqual(found);
    expect(await pathsBelow(context)).toEqual(before.filter((path) => !/orphan|left-over/.test(path)));
    expect((await context.refresh()).snapshot?.sequenceNumber).toBe(2n);
  });

  it('leaves young files alone: their commit may be on its way', async () => {
    const context = memoryContext();
    await withFiles(context, ['data/orphan.parquet']);
    expect((await removeOrphanFiles(context)).fileCount).toBe(0);
    const at = (await context.files.head(`${memoryLocation}/data/orphan.parquet`))?.modifiedMs ?? 0;
    expect((await removeOrphanFiles(context, { olderThanMs: at })).fileCount).toBe(0);
    expect((await removeOrphanFiles(context, { olderThanMs: at + 1 })).fileCount).toBe(1);
  });

  it('leaves hidden files and directories alone', async () => {
    const context = memoryContext();
    await withFiles(context, ['data/_temporary/0/x.parquet', 'data/.part.crc', '_side/y']);
    expect((await removeOrphanFiles(context, { olderThanMs: always })).locations).toEqual([]);
  });

  it('looks below a given location alone', async () => {
    const context = memoryContext();
    await withFiles(context, ['data/a/orphan.parquet', 'data/b/orphan.parquet']);
    const { locations } = await removeOrphanFiles(context, { olderThanMs: always, location: `${memoryLocation}/data/a` });
    expect(locations).toEqual([`${memoryLocation}/data/a/orphan.parquet`]);
  });

  it('takes a file for the same under the spellings of its scheme', async () => {
    const context = memoryContext();
    await withFiles(context, [], `file://${memoryLocation}`);
    expect((await removeOrphanFiles(context, { olderThanMs: always })).fileCount).toBe(0);
  });

  it('refuses to decide about files that are referred to under another scheme, unless it is told', async () => {
    const context = memoryContext();
    await withFiles(context, [], 'hdfs://host/wh/db/t');
    await expect(removeOrphanFiles(context, { olderThanMs: always })).rejects.toMatchObject({
      alias: 'IllegalArgumentException',
      message: expect.stringMatching(
        /^Unable to determine whether certain files are orphan\..*\[\(hdfs:\/\/host, file:\/\/\)\]\.$/,
      ) as string,
    });
    const ignored = await removeOrphanFiles(context, { olderThanMs: always, prefixMismatch: 'ignore', dryRun: true });
    expect(ignored.fileCount).toBe(0);
    const equal = { equalSchemes: new Map([['hdfs', '']]), equalAuthorities: new Map([['host', '']]) };
    expect((await removeOrphanFiles(context, { olderThanMs: always, ...equal })).fileCount).toBe(0);
    const deleted = await removeOrphanFiles(context, { olderThanMs: always, prefixMismatch: 'delete' });
    expect(deleted.locations).toEqual([`${memoryLocation}/data/live.parquet`]);
  });

  it('takes no interval below a day through SQL', async () => {
    const context = memoryContext();
    await withFiles(context, []);
    const procedure = icebergProcedures(context).find(({ name }) => name === 'remove_orphan_files');
    const args = new Map<string, ProcedureValue>([['older_than', BigInt(context.clock.now()) * 1000n]]);
    await expect(procedure?.run(args)).rejects.toThrow(/^Cannot remove orphan files with an interval less than 24 hours\. Executing this/);
    expect(await procedure?.run(new Map())).toEqual([]);
  });
});
