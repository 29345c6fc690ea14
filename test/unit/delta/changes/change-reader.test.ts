import { beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/base/errors.ts';
import { removeOf } from '../../../../src/delta/actions.ts';
import { ChangeReader } from '../../../../src/delta/changes/change-reader.ts';
import { deletionVectorPath } from '../../../../src/delta/deletion-vectors/deletion-vector-path.ts';
import { writeDeletionVectors } from '../../../../src/delta/deletion-vectors/write-deletion-vectors.ts';
import { commitPath } from '../../../../src/delta/log/log-names.ts';
import type { VersionChanges } from '../../../../src/table/changes.ts';
import { toVersion, type Version } from '../../../../src/table/version.ts';
import { DeltaBench, metadataOf } from '../../../support/delta-bench.ts';

const never = (): never => {
  throw new Error('a vector was written');
};
const feedOn = { 'delta.enableChangeDataFeed': 'true' };
const shape = (changes: VersionChanges) => changes.files.map((file) => `${file.kind} ${file.path}`);

describe('ChangeReader', () => {
  let bench: DeltaBench;
  let reader: ChangeReader;

  beforeEach(() => {
    bench = new DeltaBench();
    reader = new ChangeReader(bench.process());
  });

  it('shows an append as files of inserts, with the schema and time of the version', async () => {
    await bench.create({ configuration: feedOn, partitionColumns: ['p'] });
    const committedAt = bench.clock.now();
    const file = await bench.append(['a', 'b'], { p: 'x' });
    const changes = await reader.changesOf(toVersion(1));
    expect(changes).toMatchObject({ link: { id: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown, previousExpired: false } });
    expect(changes).toEqual({
      link: changes.link,
      version: 1,
      committedAt,
      schema: (await bench.process().refresh()).schema,
      partitionColumns: ['p'],
      files: [{ kind: 'insert', path: file.storedPath, sizeBytes: 3, partitionValues: { p: 'x' }, rowCount: 2 }],
      empties: false,
    });
  });

  it('puts deletes before inserts and orders each by the bytes of the path', async () => {
    await bench.create({ configuration: feedOn });
    const old = [await bench.append(['a']), await bench.append(['b'])];
    const added = [await bench.file(['c']), await bench.file(['d'])];
    const version = await bench.remove([...old].reverse(), [...added].reverse());
    expect(shape(await reader.changesOf(version))).toEqual([
      'delete part-00000.txt',
      'delete part-00001.txt',
      'insert part-00002.txt',
      'insert part-00003.txt',
    ]);
  });

  it('takes recorded changes alone when a commit has any', async () => {
    await bench.create({ configuration: feedOn });
    const old = await bench.append(['a', 'b']);
    const rewritten = await bench.file(['a', 'c']);
    const recorded = [await bench.recordedChanges('cdc-1', ['b']), await bench.recordedChanges('cdc-0', ['c'])];
    const version = await bench.commit('UPDATE', [...recorded, removeOf(old, { deletedMs: 0, dataChange: true }), rewritten]);
    expect(shape(await reader.changesOf(version))).toEqual(['recorded _change_data/cdc-0', 'recorded _change_data/cdc-1']);
  });

  it('shows nothing for rewrites, metadata, vacuum and a merge that changed no row', async () => {
    await bench.create({ configuration: feedOn });
    const old = await bench.append(['a']);
    const same = { ...(await bench.file(['a'])), dataChange: false };
    const versions = [
      await bench.commit('OPTIMIZE', [removeOf(old, { deletedMs: 0, dataChange: false }), same]),
      await bench.commit('SET TBLPROPERTIES', [metadataOf({ configuration: { ...feedOn, note: 'x' } })]),
      await bench.commit('VACUUM START', []),
      await bench.commit('MERGE', [{ ...same, dataChange: true }], {
        operationMetrics: { numTargetRowsInserted: '0', numTargetRowsUpdated: '0', numTargetRowsDeleted: '0' },
      }),
    ];
    for (const version of versions) expect((await reader.changesOf(version)).files).toEqual([]);
  });

  it('gives the same answer read in order, alone, and after any other version', async () => {
    await bench.create({ configuration: feedOn });
    for (const row of ['a', 'b', 'c', 'd']) await bench.append([row]);
    const alone = await new ChangeReader(bench.process()).changesOf(toVersion(3));
    const order: Version[] = [1, 2, 3, 1, 3, 3, 4, 3].map(toVersion);
    for (const version of order) {
      const changes = await reader.changesOf(version);
      if (version === 3) expect(changes).toEqual(alone);
    }
  });

  it('refuses versions at which the feed is off, and takes the version that turns it on', async () => {
    await bench.create();
    await bench.append(['a']);
    const enabling = await bench.commit('SET TBLPROPERTIES', [metadataOf({ configuration: feedOn }), await bench.file(['b'])]);
    const disabling = await bench.commit('SET TBLPROPERTIES', [metadataOf({})]);
    await expect(reader.changesOf(toVersion(1))).rejects.toMatchObject({ code: 'CDF_NOT_ENABLED', kind: 'invalid' });
    expect(shape(await reader.changesOf(enabling))).toEqual(['insert part-00001.txt']);
    await expect(reader.changesOf(disabling)).rejects.toMatchObject({ code: 'CDF_NOT_ENABLED' });
  });

  it('reports a gap when the commit file is gone, and the range when the version is yet to come', async () => {
    await bench.create({ configuration: feedOn });
    await bench.append(['a']);
    await bench.append(['b']);
    const context = bench.process();
    await context.refresh();
    await bench.store.delete(commitPath(1));
    const late = new ChangeReader(context);
    await expect(late.changesOf(toVersion(1))).rejects.toMatchObject({ code: 'CDF_GAP', kind: 'not-found' });
    await expect(late.changesOf(toVersion(9))).rejects.toThrow('latest is 2');
  });

  it.each(['removed file', 'recorded changes', 'added file'])('reports a gap, naming the file, when a %s was vacuumed', async (what) => {
    await bench.create({ configuration: feedOn });
    const old = await bench.append(['a']);
    const added = await bench.file(['b']);
    const recorded = await bench.recordedChanges('cdc-0', ['a']);
    const version = what === 'recorded changes' ? await bench.commit('UPDATE', [recorded]) : await bench.remove([old], [added]);
    const path = { 'removed file': old, 'recorded changes': recorded, 'added file': added }[what]?.storedPath ?? '';
    await bench.store.delete(path);
    await expect(reader.changesOf(version)).rejects.toSatisfy(
      (error) => error instanceof ServiceError && error.code === 'CDF_GAP' && error.message.includes(path),
    );
  });

  it('shows the rows that a deletion vector came to cover as deletes, and those it left as inserts', async () => {
    await bench.create({ configuration: feedOn });
    const file = await bench.append(['a', 'b', 'c']);
    const target = { store: bench.store, ids: bench.process().ids };
    const [first, second] = await writeDeletionVectors(target, [
      { positions: BigInt64Array.of(0n, 1n) },
      { positions: BigInt64Array.of(1n, 2n) },
    ]);
    const once = { ...file, deletionVector: first };
    const twice = { ...file, deletionVector: second };
    const deleting = await bench.commit('DELETE', [removeOf(file, { deletedMs: 0, dataChange: true }), once]);
    const restoring = await bench.commit('RESTORE', [removeOf(once, { deletedMs: 0, dataChange: true }), twice]);
    const of = (kind: string, positions: readonly bigint[]) => ({
      kind,
      path: file.storedPath,
      sizeBytes: file.sizeBytes,
      partitionValues: {},
      rowCount: positions.length,
      onlyRows: BigInt64Array.from(positions),
    });
    expect((await reader.changesOf(deleting)).files).toEqual([of('delete', [0n, 1n])]);
    expect((await reader.changesOf(restoring)).files).toEqual([of('delete', [2n]), of('insert', [0n])]);
    const rows = (await reader.rowsAt(restoring)).files;
    expect(rows).toMatchObject([{ kind: 'insert', rowCount: 1, deletedRows: BigInt64Array.of(1n, 2n) }]);
    await bench.store.delete(deletionVectorPath(second ?? never()) ?? '');
    await expect(reader.changesOf(restoring)).rejects.toMatchObject({ code: 'CDF_GAP' });
  });

  it('completes a thin remove from the version before', async () => {
    await bench.create({ configuration: feedOn, partitionColumns: ['p'] });
    const file = await bench.append(['a'], { p: 'x' });
    const { path, storedPath } = file;
    const version = await bench.commit('DELETE', [{ kind: 'remove', path, storedPath, dataChange: true, deletedMs: 5 }]);
    expect((await reader.changesOf(version)).files).toEqual([
      { kind: 'delete', path: storedPath, sizeBytes: 1, partitionValues: { p: 'x' }, rowCount: 1 },
    ]);
  });

  it('shows the rows of a version as inserts by path, with the feed off too', async () => {
    await bench.create();
    const files = [await bench.append(['a']), await bench.append(['b'])];
    await bench.remove(files);
    expect(shape(await reader.rowsAt(toVersion(2)))).toEqual(['insert part-00000.txt', 'insert part-00001.txt']);
    expect((await reader.rowsAt(toVersion(3))).files).toEqual([]);
  });
});
