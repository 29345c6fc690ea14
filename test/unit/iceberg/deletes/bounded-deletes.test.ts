import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildBatch } from '../../../../src/codec/build-columns.ts';
import { writeParquet } from '../../../../src/codec/parquet/write-parquet.ts';
import { deletedRowsOf } from '../../../../src/iceberg/deletes/deleted-rows.ts';
import { stageDeletes } from '../../../../src/iceberg/files/stage-deletes.ts';
import type { ContentFile, ManifestEntry } from '../../../../src/iceberg/metadata/content-file.ts';
import { noDeletes } from '../../../../src/iceberg/scan/delete-index.ts';
import type { LiveFile } from '../../../../src/iceberg/scan/live-files.ts';
import { dataFile } from '../../../support/iceberg/memory-table.ts';
import { type StagedTable, stagedTable } from '../../../support/iceberg/staged-table.ts';
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts';

const schema = { kind: 'struct', fields: [{ name: 'p', type: { kind: 'integer' }, nullable: true, id: 1 }] } as const;

function entryOf(file: ContentFile): ManifestEntry {
  return { status: 'added', snapshotId: 1n, sequenceNumber: 1n, fileSequenceNumber: 1n, file };
}

describe('deleted rows of a file', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await openTestEngine();
  });
  afterAll(() => engine.close());

  /** The rows that deletes of these positions take from a file of two rows, which its manifest says to have `recordCount`. */
  async function deleted(
    positions: BigInt64Array,
    recordCount: number,
    formatVersion: 2 | 3,
    saidBy: (entry: ManifestEntry) => ManifestEntry = (entry) => entry,
  ): Promise<BigInt64Array | undefined> {
    const made = stagedTable(engine, { schema });
    const table: StagedTable = { ...made, state: { ...made.state, metadata: { ...made.state.metadata, formatVersion } } };
    const bytes = await writeParquet([buildBatch(schema, [{ p: 1 }, { p: 2 }])], { compression: 'snappy' });
    const path = join(table.state.metadata.location, 'data', 'two-rows.parquet');
    const file = dataFile('two-rows', { path, recordCount, fileSizeBytes: bytes.byteLength });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    const live: LiveFile = { entry: entryOf(file), deletes: [], attached: noDeletes };
    const { added } = await stageDeletes(table.context, table.state, [{ file: live, positions }]);
    const [only] = added.map(entryOf).map(saidBy);
    const attached = formatVersion === 3 ? { ...noDeletes, vector: only } : { ...noDeletes, own: only === undefined ? [] : [only] };
    const files = [{ ...live, attached }];
    const { context, state } = table;
    const parts = {
      source: context,
      metadata: state.metadata,
      schema: state.icebergSchema,
      nameToId: undefined,
      engine: context.engine,
      files,
    };
    const [first] = files;
    return first === undefined ? undefined : deletedRowsOf(parts)(first)?.();
  }

  it('are within its rows', async () => {
    expect(await deleted(BigInt64Array.of(1n), 2, 3)).toEqual(BigInt64Array.of(1n));
    expect(await deleted(BigInt64Array.of(0n, 1n), 2, 2)).toEqual(BigInt64Array.of(0n, 1n));
  });

  it('are refused beyond the rows that the manifest says, in a vector and in a delete file', async () => {
    await expect(deleted(BigInt64Array.of(0n, 2n), 2, 3)).rejects.toMatchObject({
      code: 'ICEBERG_DELETION_VECTOR_CORRUPT',
      message: expect.stringContaining('its 2 positions reach beyond the 2 rows of its data file') as string,
    });
    await expect(deleted(BigInt64Array.of(0n, 2n), 2, 2)).rejects.toMatchObject({
      code: 'ICEBERG_DELETE_FILE_CORRUPT',
      message: expect.stringMatching(/^position deletes name row 2 of ".*two-rows.*", which has 2 rows$/) as string,
    });
  });

  it('are those that the rows of a delete file name, whatever data file its manifest says it is of', async () => {
    const saysOther = (entry: ManifestEntry): ManifestEntry => ({ ...entry, file: { ...entry.file, referencedDataFile: 'elsewhere' } });
    const saysNone = (entry: ManifestEntry): ManifestEntry => ({ ...entry, file: { ...entry.file, referencedDataFile: undefined } });
    expect(await deleted(BigInt64Array.of(1n), 2, 2, saysOther)).toEqual(BigInt64Array.of());
    expect(await deleted(BigInt64Array.of(1n), 2, 2, saysNone)).toEqual(BigInt64Array.of(1n));
  });

  it('of a large vector are held against the rows that the file itself has, whatever its manifest says', async () => {
    const many = BigInt64Array.from({ length: 1_000_001 }, (_, index) => BigInt(index));
    await expect(deleted(many, 70_000_000, 3)).rejects.toMatchObject({
      code: 'ICEBERG_DELETION_VECTOR_CORRUPT',
      message: expect.stringContaining('its 1000001 positions reach beyond the 2 rows of its data file') as string,
    });
  });
});
