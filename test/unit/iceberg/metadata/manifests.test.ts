import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../../../../src/base/bigint-json.ts';
import { readManifest } from '../../../../src/iceberg/metadata/manifest.ts';
import { readManifestList } from '../../../../src/iceberg/metadata/manifest-list.ts';
import type { PartitionField } from '../../../../src/iceberg/metadata/table-metadata.ts';
import { writeManifest } from '../../../../src/iceberg/metadata/write-manifest.ts';
import { assignFirstRowIds, writeManifestList } from '../../../../src/iceberg/metadata/write-manifest-list.ts';
import type { Field } from '../../../../src/schema/types.ts';
import { readAvroFile } from '../../../support/avro-records.ts';
import { entry, file, listed, uncounted, written } from '../../../support/iceberg-manifests.ts';
import { createdTable, snapshot } from '../../../support/iceberg-metadata.ts';
import { bytesOf, fileVector, textOf, vectorsOf } from '../../../support/iceberg-vectors.ts';

function headers(bytes: Uint8Array): Readonly<Record<string, string>> {
  const { metadata } = readAvroFile(bytes, { name: 'f' });
  return Object.fromEntries([...metadata].map(([key, value]) => [key, Buffer.from(value).toString()]));
}

/** What the vectors say of a map: its pairs, bytes as hex. */
function pairs(value: JsonValue | undefined): readonly (readonly [unknown, unknown])[] | undefined {
  return Array.isArray(value)
    ? (value as readonly JsonValue[]).filter(isJsonObject).map((pair) => [pair['key'], pair['value']])
    : undefined;
}

function shown(map: ReadonlyMap<number, number | Uint8Array> | undefined): readonly (readonly [unknown, unknown])[] | undefined {
  return map && [...map].map(([key, value]) => [key, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value]);
}

describe('manifests and lists of other writers', () => {
  const vectors = vectorsOf('avro-files');
  const member = (value: JsonValue | undefined, name: string): JsonValue | undefined => (isJsonObject(value) ? value[name] : undefined);
  const rows = (vector: JsonObject): readonly JsonObject[] => ((vector['entries'] ?? []) as readonly JsonValue[]).filter(isJsonObject);
  const isManifest = (vector: JsonObject): boolean => rows(vector)[0]?.['data_file'] !== undefined;
  const named = (some: readonly JsonObject[]) => some.map((vector) => [textOf(vector, 'name'), vector] as const);

  it.each(named(vectors.filter(isManifest)))('reads the entries of %s', (_, vector) => {
    const content = headers(bytesOf(vector))['content'] === 'deletes' ? 'deletes' : 'data';
    const entries = readManifest(bytesOf(vector), { ...uncounted, specId: 0, content }, createdTable());
    expect(entries).toHaveLength(Number(vector['records']));
    for (const [index, expected] of rows(vector).entries()) {
      const data = expected['data_file'];
      const read = entries[index];
      expect({
        status: ['existing', 'added', 'deleted'].indexOf(read?.status ?? ''),
        path: read?.file.path,
        rows: read?.file.recordCount,
        size: read?.file.fileSizeBytes,
        values: shown(read?.file.valueCounts),
        nulls: shown(read?.file.nullValueCounts),
        lower: shown(read?.file.lowerBounds),
        upper: shown(read?.file.upperBounds),
        splits: read?.file.splitOffsets,
      }).toEqual({
        status: expected['status'],
        path: member(data, 'file_path'),
        rows: member(data, 'record_count'),
        size: member(data, 'file_size_in_bytes'),
        values: pairs(member(data, 'value_counts')),
        nulls: pairs(member(data, 'null_value_counts')),
        lower: pairs(member(data, 'lower_bounds')),
        upper: pairs(member(data, 'upper_bounds')),
        splits: member(data, 'split_offsets') ?? undefined,
      });
    }
  });

  it.each(named(vectors.filter((vector) => vector['valid'] === true && !isManifest(vector))))('reads the list %s', (name, vector) => {
    const manifests = readManifestList(bytesOf(vector), { name, snapshot: snapshot(70, 7) });
    expect(
      manifests.map((one) => [
        one.path,
        one.length,
        one.specId,
        one.addedSnapshotId.toString(),
        one.addedFiles,
        one.content === 'data' ? 0 : 1,
      ]),
    ).toEqual(
      rows(vector).map((row) => [
        row['manifest_path'],
        row['manifest_length'],
        row['partition_spec_id'],
        printJson(row['added_snapshot_id'] ?? null).replaceAll('"', ''),
        // As it was called before.
        row['added_files_count'] ?? row['added_data_files_count'],
        row['content'] ?? 0,
      ]),
    );
  });

  it('refuses a list that is encrypted', () => {
    const bytes = fileVector('avro-files', 'manifest-list-v3-encrypted.avro');
    expect(() => readManifestList(bytes, { name: 'l.avro', snapshot: snapshot(1, 1) })).toThrow(
      expect.objectContaining({ code: 'AVRO_UNSUPPORTED', message: 'manifest list l.avro: is encrypted' }),
    );
  });

  it('types partition values by the manifest where the table has lost the column', () => {
    const partition: PartitionField[] = [{ sourceId: 88, fieldId: 1000, name: 'u', transform: { kind: 'identity' } }];
    const table = createdTable();
    const [manifest] = vectors.filter((vector) => isManifest(vector) && textOf(vector, 'name').startsWith('uuid'));
    const own = { ...table, partitionSpecs: [{ specId: 0, fields: partition }] };
    const entries = readManifest(bytesOf(manifest ?? {}), uncounted, own);
    expect(entries[0]?.file.partition).toHaveLength(1);
  });
});

const sources: readonly Field[] = [
  { name: 'b', type: { kind: 'boolean' }, nullable: true, id: 1 },
  { name: 'i', type: { kind: 'integer' }, nullable: true, id: 2 },
  { name: 'l', type: { kind: 'long' }, nullable: true, id: 3 },
  { name: 'f', type: { kind: 'float' }, nullable: true, id: 4 },
  { name: 'd', type: { kind: 'double' }, nullable: true, id: 5 },
  { name: 'dc', type: { kind: 'decimal', precision: 38, scale: 4 }, nullable: true, id: 6 },
  { name: 'date', type: { kind: 'date' }, nullable: true, id: 7 },
  { name: 't', type: { kind: 'time' }, nullable: true, id: 8 },
  { name: 'ts', type: { kind: 'timestamp' }, nullable: true, id: 9 },
  { name: 'ns', type: { kind: 'timestamp_ntz_ns' }, nullable: true, id: 10 },
  { name: 'café %', type: { kind: 'string' }, nullable: true, id: 11 },
  { name: 'u', type: { kind: 'string', format: 'uuid' }, nullable: true, id: 12 },
  { name: 'fx', type: { kind: 'binary', fixedLength: 3 }, nullable: true, id: 13 },
  { name: 'bin', type: { kind: 'binary' }, nullable: true, id: 14 },
];
const everything = createdTable({
  formatVersion: 3,
  fields: sources,
  partition: sources.map(({ name, id }, index) => ({ sourceId: id ?? 0, fieldId: 1000 + index, name, transform: { kind: 'identity' } })),
});
const values = [
  true,
  -5,
  2n ** 62n + 1n,
  0.5,
  Math.PI,
  -(10n ** 37n),
  -1,
  86_399_999_999n,
  -1n,
  1_700_000_000_123_456_789n,
  'żółw/𝄞',
  'f79c3e09-677c-4bbd-a479-3f349cb785e7',
  Uint8Array.of(0, 255, 7),
  new Uint8Array(),
];

describe('manifests', () => {
  it('come back with partition values of every type, nulls, and numbers beyond 2^53', async () => {
    const entries = [
      entry('added', 5, file('a', { partition: values, firstRowId: 3n })),
      entry('existing', 4, file('b', { partition: values.map(() => undefined), columnSizes: undefined, lowerBounds: new Map() })),
      entry('deleted', 3, file('c', { partition: values, sortOrderId: undefined, splitOffsets: undefined })),
    ];
    const { bytes, description } = await written(everything, entries);
    const read = readManifest(bytes, { ...uncounted, firstRowId: 100n }, everything);
    expect(read).toEqual([entries[0], { ...entries[1], file: { ...entries[1]?.file, firstRowId: 100n } }, entries[2]]);
    expect({ ...description, partitions: description.partitions?.length }).toEqual({
      length: bytes.byteLength,
      specId: 0,
      content: 'data',
      sequenceNumber: -1n,
      minSequenceNumber: 4n,
      addedSnapshotId: 70n,
      addedFiles: 1,
      existingFiles: 1,
      deletedFiles: 1,
      addedRows: 10n,
      existingRows: 10n,
      deletedRows: 10n,
      partitions: 14,
      keyMetadata: undefined,
      firstRowId: undefined,
    });
    expect(description.partitions?.[11]).toEqual({
      containsNull: true,
      containsNan: false,
      lowerBound: new Uint8Array(Buffer.from('f79c3e09677c4bbda4793f349cb785e7', 'hex')),
      upperBound: new Uint8Array(Buffer.from('f79c3e09677c4bbda4793f349cb785e7', 'hex')),
    });
  });

  it('say of what they are in their header, with ids for every field of the schema', async () => {
    const table = createdTable({ partition: [{ sourceId: 3, fieldId: 1000, name: 'day month', transform: { kind: 'month' } }] });
    const { bytes } = await written(table, [entry('added', -1, file('a', { partition: [5] }))]);
    const header = headers(bytes);
    expect(header).toMatchObject({
      'format-version': '2',
      'partition-spec-id': '0',
      'schema-id': '0',
      content: 'data',
      'avro.codec': 'deflate',
    });
    expect(header['partition-spec']).toBe('[{"name":"day month","transform":"month","source-id":3,"field-id":1000}]');
    expect(header['schema']).toContain('"schema-id":0');
    const schema = header['avro.schema'] ?? '';
    expect(schema).toContain(
      '{"name":"lower_bounds","type":["null",{"type":"array","items":{"type":"record","name":"k126_v127","fields":[{"name":"key","type":"int","field-id":126},{"name":"value","type":"bytes","field-id":127}]},"logicalType":"map"}],"default":null,"field-id":125}',
    );
    expect(schema).toContain(
      '"type":{"type":"record","name":"r102","fields":[{"name":"day_x20month","type":["null","int"],"default":null,"field-id":1000,"iceberg-field-name":"day month"}]}',
    );
    expect(schema).toContain('"element-id":133');
    const v1 = await written(createdTable({ formatVersion: 1 }), [entry('added', 0, file('a'))]);
    expect(headers(v1.bytes)['avro.schema']).toContain('"field-id":105');
    expect(headers(v1.bytes)['avro.schema']).not.toContain('"field-id":134');
  });

  it('give added files the numbers of their list, others keep their own', async () => {
    const entries = [
      entry('added', -1, file('a')),
      { ...entry('added', 2, file('b')), fileSequenceNumber: -1n },
      entry('existing', 3, file('c')),
    ];
    const { bytes, description } = await written(createdTable(), entries);
    expect(description.minSequenceNumber).toBe(2n);
    const read = readManifest(bytes, uncounted, createdTable());
    expect(read.map((one) => [one.sequenceNumber, one.fileSequenceNumber])).toEqual([
      [7n, 7n],
      [2n, 7n],
      [3n, 3n],
    ]);
  });

  it('of the first version have no numbers', async () => {
    const { bytes } = await written(createdTable({ formatVersion: 1 }), [entry('existing', 0, file('a'))]);
    const [read] = readManifest(bytes, { ...uncounted, sequenceNumber: 0n }, createdTable({ formatVersion: 1 }));
    expect(read).toMatchObject({ sequenceNumber: 0n, fileSequenceNumber: 0n, snapshotId: 9_007_199_254_740_993n });
    expect(() => readManifest(bytes, uncounted, createdTable())).toThrow('existing file a has no sequence number');
  });

  it('count row ids over the files that have none, deleted ones left out', async () => {
    const entries = [
      entry('existing', 3, file('a', { recordCount: 5 })),
      entry('deleted', 3, file('b')),
      entry('added', 4, file('c', { firstRowId: 9n })),
      entry('added', 4, file('d')),
    ];
    const table = createdTable({ formatVersion: 3 });
    const { bytes } = await written(table, entries);
    const ids = (firstRowId: bigint | undefined) =>
      readManifest(bytes, { ...uncounted, firstRowId }, table).map((one) => one.file.firstRowId);
    expect(ids(100n)).toEqual([100n, undefined, 9n, 105n]);
    expect(ids(undefined)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it.each(['gzip', 'zstd', 'snappy', 'uncompressed'])('are packed with %s', async (codec) => {
    const table = createdTable();
    const { bytes } = await writeManifest({
      metadata: table,
      specId: 0,
      content: 'data',
      snapshotId: 1n,
      entries: [entry('added', 1, file('a'))],
      codec,
    });
    expect(readManifest(bytes, uncounted, table)).toHaveLength(1);
  });

  it('of deletes keep equality ids, vectors keep their place', async () => {
    const table = createdTable({ formatVersion: 3 });
    const place = { format: 'puffin', contentOffset: 4, contentSizeBytes: 46, referencedDataFile: 'data.parquet' } as const;
    const entries = [
      entry('added', 1, file('e', { content: 'equality-deletes', equalityIds: [1, 2] })),
      entry('added', 1, file('v', { content: 'position-deletes', ...place })),
    ];
    const { bytes } = await written(table, entries, 'deletes');
    expect(readManifest(bytes, { ...uncounted, content: 'deletes' }, table)).toEqual(entries);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    [
      'an unknown spec',
      () => writeManifest({ metadata: createdTable(), specId: 9, content: 'data', snapshotId: 1n, entries: [] }),
      'unknown partition spec: 9',
    ],
    ['a file of another spec', () => written(createdTable(), [entry('added', 1, file('a', { specId: 4 }))]), 'Cannot write file of spec 4'],
    [
      'deletes among data',
      () => written(createdTable(), [entry('added', 1, file('a', { content: 'equality-deletes' }))]),
      'content equality-deletes',
    ],
    ['deletes in the first version', () => written(createdTable({ formatVersion: 1 }), [], 'deletes'), 'v1 table'],
    [
      'an existing file without a number',
      () => written(createdTable(), [entry('existing', -1, file('a'))]),
      'existing file without a sequence number',
    ],
    [
      'an unknown codec',
      () => writeManifest({ metadata: createdTable(), specId: 0, content: 'data', snapshotId: 1n, entries: [], codec: 'lzo' }),
      '"lzo" is no codec',
    ],
  ])('are not written for %s', async (_, write, message) => {
    await expect(write()).rejects.toThrow(message);
  });

  it('with an unknown file format are refused by name', async () => {
    const odd = file('a.csv', { format: 'csv' as unknown as 'parquet' });
    const { bytes } = await written(createdTable(), [entry('added', 1, odd)]);
    expect(() => readManifest(bytes, uncounted, createdTable())).toThrow(
      expect.objectContaining({ code: 'ICEBERG_FILE_FORMAT_UNSUPPORTED', message: 'manifest m0.avro: file a.csv has the format "CSV"' }),
    );
  });
});

describe('manifest lists', () => {
  const list = { formatVersion: 2, snapshotId: 2n ** 62n, parentSnapshotId: undefined, sequenceNumber: 8n, firstRowId: undefined } as const;
  const summary = { containsNull: true, containsNan: undefined, lowerBound: Uint8Array.of(1), upperBound: undefined };

  it("come back, the unassigned numbers with the snapshot's", async () => {
    const manifests = [
      { ...listed, partitions: [summary] },
      { ...listed, path: 'd.avro', content: 'deletes', sequenceNumber: -1n, minSequenceNumber: -1n, addedSnapshotId: 2n ** 62n } as const,
    ];
    const bytes = await writeManifestList({ ...list, manifests });
    expect(readManifestList(bytes, { name: 'l', snapshot: snapshot(1, 8) })).toEqual([
      manifests[0],
      { ...manifests[1], sequenceNumber: 8n, minSequenceNumber: 8n },
    ]);
    expect(headers(bytes)).toMatchObject({
      'snapshot-id': '4611686018427387904',
      'parent-snapshot-id': 'null',
      'sequence-number': '8',
      'format-version': '2',
    });
    expect(headers(bytes)['avro.schema']).toContain('"name":"r508"');
  });

  it('number the rows of data manifests from the third version on', async () => {
    const manifests = [
      listed,
      { ...listed, content: 'deletes' } as const,
      { ...listed, firstRowId: 5n },
      { ...listed, existingFiles: 1, existingRows: 3n },
    ];
    const { nextRowId } = assignFirstRowIds(manifests, 100n);
    expect(nextRowId).toBe(123n);
    const bytes = await writeManifestList({ ...list, formatVersion: 3, firstRowId: 100n, manifests });
    expect(readManifestList(bytes, { name: 'l', snapshot: snapshot(1, 8) }).map((one) => one.firstRowId)).toEqual([
      100n,
      undefined,
      5n,
      110n,
    ]);
    expect(headers(bytes)['first-row-id']).toBe('100');
    await expect(writeManifestList({ ...list, formatVersion: 3, manifests })).rejects.toThrow('first-row-id is null');
  });

  it('of the first version leave unknown counts out, later ones refuse them', async () => {
    const unknown = { ...listed, sequenceNumber: 0n, minSequenceNumber: 0n, addedFiles: undefined, addedRows: undefined };
    const bytes = await writeManifestList({ ...list, formatVersion: 1, sequenceNumber: 0n, manifests: [unknown] });
    expect(readManifestList(bytes, { name: 'l', snapshot: snapshot(1, 0) })).toEqual([unknown]);
    await expect(writeManifestList({ ...list, manifests: [unknown] })).rejects.toThrow('files are not counted: m0.avro');
    await expect(writeManifestList({ ...list, formatVersion: 1, manifests: [{ ...listed, content: 'deletes' }] })).rejects.toThrow(
      'v1 table',
    );
  });
});
