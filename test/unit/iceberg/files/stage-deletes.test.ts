import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDeletionVector } from '../../../../src/iceberg/deletes/deletion-vector.ts';
import { PositionDeletes } from '../../../../src/iceberg/deletes/position-deletes.ts';
import { stageDeletes } from '../../../../src/iceberg/files/stage-deletes.ts';
import type { ContentFile, ManifestEntry } from '../../../../src/iceberg/metadata/content-file.ts';
import { positionDeleteIds } from '../../../../src/iceberg/metadata/reserved-ids.ts';
import { type AttachedDeletes, noDeletes } from '../../../../src/iceberg/scan/delete-index.ts';
import type { LiveFile } from '../../../../src/iceberg/scan/live-files.ts';
import { dataFile } from '../../../support/iceberg/memory-table.ts';
import { type StagedTable, type StagedTableOptions, stagedTable } from '../../../support/iceberg/staged-table.ts';
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts';

let made: TestEngine;
beforeAll(async () => {
  made = await openTestEngine();
});
afterAll(() => made.close());

function table(options: Partial<StagedTableOptions> = {}): StagedTable {
  const schema = { kind: 'struct', fields: [{ name: 'p', type: { kind: 'integer' }, nullable: true, id: 1 }] } as const;
  const spec = [{ sourceId: 1, fieldId: 1000, name: 'p', transform: { kind: 'identity' } }] as const;
  return stagedTable(made, { schema, spec, ...options });
}

function entry(file: ContentFile): ManifestEntry {
  return { status: 'added', snapshotId: 1n, sequenceNumber: 1n, fileSequenceNumber: 1n, file };
}

function live(name: string, partition: number, attached: Partial<AttachedDeletes> = {}): LiveFile {
  return { entry: entry(dataFile(name, { partition: [partition] })), deletes: [], attached: { ...noDeletes, ...attached } };
}

function positions(...values: readonly number[]): BigInt64Array {
  return BigInt64Array.from(values, BigInt);
}

function readBack({ context, state }: StagedTable, path: string, files: readonly ContentFile[]): Promise<readonly BigInt64Array[]> {
  return new PositionDeletes(context, state.metadata, context.engine).of(path, { own: files.map(entry), shared: [] });
}

describe.each(['parquet', 'avro', 'orc'] as const)('position delete files of format %s', (format) => {
  it('are one for each data file, which they name', async () => {
    const made2 = table({ properties: { 'write.delete.format.default': format } });
    const [a, b] = [live('a', 1), live('b', 1)];
    const { added, removed } = await stageDeletes(made2.context, made2.state, [
      { file: b, positions: positions(5) },
      { file: a, positions: positions(0, 7, 2 ** 33) },
    ]);
    expect(removed).toEqual([]);
    expect(
      added.map(({ referencedDataFile, recordCount, partition, content }) => [referencedDataFile, recordCount, partition, content]),
    ).toEqual([
      [b.entry.file.path, 1, [1], 'position-deletes'],
      [a.entry.file.path, 3, [1], 'position-deletes'],
    ]);
    expect(added[0]?.path).toMatch(new RegExp(`/data/p=1/00000-0-[0-9a-f-]{36}-00001-deletes\\.${format}$`));
    const bound = Buffer.from(added[1]?.upperBounds?.get(positionDeleteIds.path) ?? []).toString();
    expect(bound).toBe(a.entry.file.path);
    expect(await readBack(made2, a.entry.file.path, added)).toEqual([positions(0, 7, 2 ** 33)]);
  });

  it('take in what was deleted before of the data file alone, and the place of it', async () => {
    const made2 = table({ properties: { 'write.delete.format.default': format } });
    const [a, b] = [live('a', 1), live('b', 1)];
    const before = await stageDeletes(made2.context, made2.state, [{ file: a, positions: positions(3, 9) }]);
    const shared = await stageDeletes(made2.context, made2.state, [{ file: a, positions: positions(1) }]);
    const again = { ...a, attached: { ...noDeletes, own: before.added.map(entry), shared: shared.added.map(entry) } };
    const { added, removed } = await stageDeletes(made2.context, made2.state, [
      { file: again, positions: positions(5, 9) },
      { file: b, positions: positions(0) },
    ]);
    expect(removed).toEqual(before.added);
    expect(added.map(({ recordCount }) => recordCount)).toEqual([3, 1]);
    expect(await readBack(made2, a.entry.file.path, added)).toEqual([positions(3, 5, 9)]);
  });

  it('are one for each partition where the table wants it, sorted by path', async () => {
    const made2 = table({ properties: { 'write.format.default': format, 'write.delete.granularity': 'partition' } });
    const deleted = [live('b', 1), live('a', 1), live('c', 2)].map((file, index) => ({ file, positions: positions(index, index + 10) }));
    const { added } = await stageDeletes(made2.context, made2.state, deleted);
    expect(added.map(({ referencedDataFile, recordCount, partition }) => [referencedDataFile, recordCount, partition])).toEqual([
      [undefined, 4, [1]],
      [deleted[2]?.file.entry.file.path, 2, [2]],
    ]);
    expect(added[0]?.lowerBounds?.get(positionDeleteIds.path)?.length).toBe(16);
    expect(await readBack(made2, deleted[0]?.file.entry.file.path ?? '', added)).toEqual([positions(0, 10)]);
    if (format !== 'parquet') return;
    const paths = (await made.engine.rows(`SELECT file_path FROM '${added[0]?.path ?? ''}'`)).map(([path]) => String(path));
    expect(paths).toEqual(paths.toSorted());
  });
});

describe('deletion vectors', () => {
  it('take in what was deleted before, and the place of it', async () => {
    const old = table();
    const [first, second] = [live('a', 1), live('b', 2)];
    const before = await stageDeletes(old.context, old.state, [{ file: first, positions: positions(3, 9) }]);
    const v3: StagedTable = { ...old, state: { ...old.state, metadata: { ...old.state.metadata, formatVersion: 3 } } };
    const upgraded = { ...first, attached: { ...noDeletes, own: before.added.map(entry) } };
    const made1 = await stageDeletes(v3.context, v3.state, [
      { file: upgraded, positions: positions(1, 9) },
      { file: second, positions: positions(0) },
    ]);
    expect(made1.removed).toEqual(before.added);
    expect(new Set(made1.added.map(({ path }) => path)).size).toBe(1);
    expect(
      made1.added.map(({ format, recordCount, referencedDataFile, partition }) => [format, recordCount, referencedDataFile, partition]),
    ).toEqual([
      ['puffin', 3, first.entry.file.path, [1]],
      ['puffin', 1, second.entry.file.path, [2]],
    ]);
    const [vector] = made1.added.map(entry);
    if (vector === undefined) throw new Error('no vector');
    expect(await readDeletionVector(v3.context, vector, undefined)).toEqual(positions(1, 3, 9));
    const again = await stageDeletes(v3.context, v3.state, [
      { file: { ...first, attached: { ...noDeletes, vector } }, positions: positions(4) },
    ]);
    expect(again.removed).toEqual([vector.file]);
    expect(await readDeletionVector(v3.context, entry(again.added[0] ?? vector.file), undefined)).toEqual(positions(1, 3, 4, 9));
  });
});
