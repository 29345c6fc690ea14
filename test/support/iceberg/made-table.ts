import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { buildBatch, type InputRow } from '../../../src/codec/build-columns.ts';
import { canonicalRows } from '../../../src/codec/canonical-json.ts';
import { writeParquet } from '../../../src/codec/parquet/write-parquet.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { IcebergTable } from '../../../src/iceberg/iceberg-table.ts';
import { IcebergTables } from '../../../src/iceberg/iceberg-tables.ts';
import type { ContentFile, ManifestEntry, ManifestFile } from '../../../src/iceberg/metadata/content-file.ts';
import { printTableMetadata } from '../../../src/iceberg/metadata/print-table-metadata.ts';
import type { TableMetadata } from '../../../src/iceberg/metadata/table-metadata.ts';
import { writeManifest } from '../../../src/iceberg/metadata/write-manifest.ts';
import { writeManifestList } from '../../../src/iceberg/metadata/write-manifest-list.ts';
import type { StructType } from '../../../src/schema/types.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import { entryOf, metadataOf, snapshotOf } from './made-entries.ts';

/** A Parquet file of a table that is made by hand. */
export interface MadeFile {
  readonly schema: StructType;
  readonly rows: readonly InputRow[];
  readonly sequenceNumber?: number | undefined;
  /** What the manifest says of it, beside its path, rows and size. */
  readonly file?: Partial<ContentFile> | undefined;
}

/** Writes a table of one snapshot into a directory: whatever its files look like, its metadata says what the test wants. */
export async function madeTable(
  directory: string,
  engine: Engine,
  table: { readonly metadata: (parts: { readonly location: string }) => TableMetadata; readonly files: readonly MadeFile[] },
): Promise<IcebergTable> {
  for (const folder of ['data', 'metadata']) mkdirSync(join(directory, folder), { recursive: true });
  const entries: ManifestEntry[] = [];
  for (const [index, { schema, rows, file, sequenceNumber = 1 }] of table.files.entries()) {
    const path = join(directory, 'data', `${index}.parquet`);
    const bytes = await writeParquet([buildBatch(schema, rows)], { compression: 'snappy' });
    writeFileSync(path, bytes);
    entries.push(entryOf({ path, recordCount: rows.length, fileSizeBytes: bytes.byteLength, ...file }, sequenceNumber));
  }
  const plain = table.metadata({ location: directory });
  const list = join(directory, 'metadata', 'snap-1.avro');
  const snapshot = snapshotOf({
    snapshotId: 1n,
    sequenceNumber: 9n,
    manifestList: list,
    firstRowId: plain.formatVersion === 3 ? 0n : undefined,
    addedRows: plain.formatVersion === 3 ? 0n : undefined,
  });
  const metadata: TableMetadata = {
    ...plain,
    lastSequenceNumber: 9n,
    snapshots: [snapshot],
    currentSnapshotId: 1n,
    refs: new Map([
      ['main', { snapshotId: 1n, type: 'branch', minSnapshotsToKeep: undefined, maxSnapshotAgeMs: undefined, maxRefAgeMs: undefined }],
    ]),
    snapshotLog: [{ timestampMs: 0, snapshotId: 1n }],
  };
  const manifests: ManifestFile[] = [];
  for (const [index, group] of byManifest(entries).entries()) {
    const { bytes, description } = await writeManifest({ metadata, snapshotId: 1n, ...group });
    const path = join(directory, 'metadata', `m${index}.avro`);
    writeFileSync(path, bytes);
    manifests.push({ ...description, path });
  }
  const { formatVersion } = metadata;
  const firstRowId = formatVersion === 3 ? 0n : undefined;
  writeFileSync(
    list,
    await writeManifestList({ formatVersion, snapshotId: 1n, parentSnapshotId: undefined, sequenceNumber: 9n, firstRowId, manifests }),
  );
  writeFileSync(join(directory, 'metadata', 'v1.metadata.json'), printTableMetadata(metadata));
  const random = new SeededRandom(1);
  const tables = new IcebergTables({
    openStore: openObjectStore,
    clock: new SystemClock(),
    random,
    ids: new RandomIdSource(random),
    version: 'test',
    engine: () => Promise.resolve(engine),
  });
  const opened = await tables.open('made', directory);
  if (opened === undefined) throw new TypeError('the table was not made');
  return opened;
}

/** The rows of the newest snapshot as canonical text, sorted. */
export async function rowsOfTable(table: IcebergTable, engine: Engine): Promise<readonly string[]> {
  const relation = await engine.scan(await table.scan(await table.refresh()));
  const rows: string[] = [];
  for await (const batch of engine.read(relation)) rows.push(...canonicalRows(batch, { members: 'schema' }));
  await relation.dispose();
  return rows.sort();
}

export { metadataOf };

interface ManifestGroup {
  readonly specId: number;
  readonly content: ManifestFile['content'];
  readonly entries: ManifestEntry[];
}

function byManifest(entries: readonly ManifestEntry[]): readonly ManifestGroup[] {
  const groups = new Map<string, ManifestGroup>();
  for (const entry of entries) {
    const { specId } = entry.file;
    const content = entry.file.content === 'data' ? 'data' : 'deletes';
    const group = groups.get(`${specId} ${content}`) ?? { specId, content, entries: [] };
    groups.set(`${specId} ${content}`, group);
    group.entries.push(entry);
  }
  return [...groups.values()];
}
