import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, parseJson, printJson } from '../../../../src/base/bigint-json.ts';
import { applyUpdates } from '../../../../src/iceberg/metadata/apply-updates.ts';
import { printTableMetadata } from '../../../../src/iceberg/metadata/print-table-metadata.ts';
import { readTableMetadata, tableMetadataFromJson } from '../../../../src/iceberg/metadata/read-table-metadata.ts';
import { schemaFromJson, schemaToJson } from '../../../../src/iceberg/metadata/schema-json.ts';
import { icebergTypeOf, icebergTypeText } from '../../../../src/iceberg/metadata/type-text.ts';
import { branch, commit, createdTable, metadataJson, snapshot } from '../../../support/iceberg-metadata.ts';
import { bytesOf, textOf, vectorsOf } from '../../../support/iceberg-vectors.ts';

const options = { nowMs: 5000, baseLocation: '/lake/t/metadata/v1.metadata.json' };
const written = applyUpdates(createdTable(), commit(snapshot(9_007_199_254_740_993n, 1)), options);

function form(change: JsonObject = {}): JsonObject {
  return { ...metadataJson(written), ...change };
}

function refusal(change: JsonObject): unknown {
  try {
    tableMetadataFromJson(form(change), 'm');
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('table metadata of other implementations', () => {
  it.each(vectorsOf('table-metadata').map((vector) => [textOf(vector, 'name'), vector] as const))('%s', (name, vector) => {
    const bytes = bytesOf(vector);
    if (vector['valid'] !== true) {
      const unsupported = isJsonObject(vector['error']) && vector['error']['kind'] === 'unsupported-format-version';
      // A version that was not supported when the vector was made may be now: then it is refused for what it lacks.
      const code = unsupported ? /^ICEBERG_(FORMAT_VERSION_UNSUPPORTED|METADATA_INVALID)$/ : /^ICEBERG_METADATA_INVALID$/;
      expect(() => readTableMetadata(bytes, name)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(code) as string, message: expect.stringContaining(name) as string }),
      );
      return;
    }
    const metadata = readTableMetadata(bytes, name);
    expect({
      formatVersion: metadata.formatVersion,
      tableUuid: metadata.tableUuid,
      location: metadata.location,
      schemaIds: metadata.schemas.map(({ schemaId }) => schemaId),
      currentSchemaId: metadata.currentSchemaId,
      currentSnapshotId: metadata.currentSnapshotId?.toString() ?? null,
      snapshotIds: metadata.snapshots.map(({ snapshotId }) => snapshotId.toString()),
      lastColumnId: metadata.lastColumnId,
      lastSequenceNumber: Number(metadata.lastSequenceNumber),
    }).toEqual(
      Object.fromEntries(
        [
          'formatVersion',
          'tableUuid',
          'location',
          'schemaIds',
          'currentSchemaId',
          'currentSnapshotId',
          'snapshotIds',
          'lastColumnId',
          'lastSequenceNumber',
        ].map((key) => [key, vector[key] ?? null]),
      ),
    );
    if (vector['defaultSpecId'] !== undefined) expect(metadata.defaultSpecId).toBe(vector['defaultSpecId']);
    expect(readTableMetadata(Buffer.from(printTableMetadata(metadata)), name)).toEqual(metadata);
  });
});

describe('readTableMetadata', () => {
  it('reads packed files whatever they are called', () => {
    expect(readTableMetadata(gzipSync(printTableMetadata(written)), 'v1.metadata.json')).toEqual(written);
  });

  it('keeps members it does not know, at every level', () => {
    const mark = '"x-future":{"deep":[1,9007199254740993]}';
    // A schema, its fields, a spec, an order, a snapshot, a reference, both logs and the metadata itself.
    const places = [
      '"required":',
      '"fields":',
      '"summary":',
      '"type":"branch"',
      '"timestamp-ms":',
      '"format-version":',
      '"metadata-file":',
    ];
    let text = printTableMetadata(applyUpdates(written, [{ action: 'set-location', location: '/b' }], options));
    for (const place of places) text = text.replaceAll(place, `${mark},${place}`);
    // Two objects got it twice.
    text = text.replaceAll(
      new RegExp(`(${mark.replaceAll(/[[\]{}]/g, '\\$&')},"[a-z-]*":[^,]*,)${mark.replaceAll(/[[\]{}]/g, '\\$&')},`, 'g'),
      '$1',
    );
    const marks = (printed: string): number => printed.split(mark).length;
    const read = readTableMetadata(Buffer.from(text), 'm');
    expect(marks(text)).toBeGreaterThan(10);
    expect(marks(printTableMetadata(read))).toBe(marks(text));
    expect(readTableMetadata(Buffer.from(printTableMetadata(read)), 'm')).toEqual(read);
  });

  it('keeps integers beyond 2^53 digit by digit', () => {
    expect(printTableMetadata(written)).toContain('"current-snapshot-id":9007199254740993');
    const text = printJson(form()).replaceAll('9007199254740993', '9223372036854775807');
    expect(readTableMetadata(Buffer.from(text), 'm').currentSnapshotId).toBe(2n ** 63n - 1n);
  });

  it.each([[-1], [null], [undefined]])('takes %s for no current snapshot', (id) => {
    const metadata = tableMetadataFromJson(form({ 'current-snapshot-id': id, refs: {} }), 'm');
    expect(metadata.currentSnapshotId).toBeUndefined();
    expect(metadataJson(metadata)['current-snapshot-id']).toBe(-1);
    expect(Object.hasOwn(metadataJson({ ...metadata, formatVersion: 3 }), 'current-snapshot-id')).toBe(false);
  });

  it('makes the main branch of the current snapshot where refs do not have it', () => {
    expect(tableMetadataFromJson(form({ refs: undefined }), 'm').refs).toEqual(new Map([['main', branch(9_007_199_254_740_993n)]]));
  });

  it('calls a table without a UUID the same each time, and after its place', () => {
    const first = { ...form(), 'format-version': 1, 'table-uuid': undefined, 'last-sequence-number': undefined };
    const uuids = [first, first, { ...first, location: '/lake/other' }].map((json) => tableMetadataFromJson(json, 'm').tableUuid);
    expect(uuids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(uuids[0]).toBe(uuids[1]);
    expect(uuids[0]).not.toBe(uuids[2]);
  });

  it('writes both forms of schema and spec for the first version', () => {
    const json = metadataJson(createdTable({ formatVersion: 1 }));
    expect(json['schema']).toEqual((json['schemas'] as readonly JsonObject[])[0]);
    expect(json['partition-spec']).toEqual([]);
    expect(Object.hasOwn(json, 'last-sequence-number')).toBe(false);
    expect(json).toMatchObject({ 'last-partition-id': 999, 'sort-orders': [{ 'order-id': 0, fields: [] }], 'current-snapshot-id': -1 });
  });

  const twice = (member: string): JsonObject => ({
    [member]: [...(form()[member] as readonly JsonObject[]), ...(form()[member] as readonly JsonObject[])],
  });
  const log = (...times: readonly number[]) => times.map((ms) => ({ 'timestamp-ms': ms, 'snapshot-id': 9_007_199_254_740_993n }));

  it.each<[string, JsonObject, string]>([
    ['a current schema that is not there', { 'current-schema-id': 4 }, 'cannot find schema with current-schema-id=4'],
    ['a default spec that is not there', { 'default-spec-id': 4 }, 'cannot find partition spec with default-spec-id=4'],
    ['a default order that is not there', { 'default-sort-order-id': 4 }, 'cannot find sort order with default-sort-order-id=4'],
    ['a current snapshot that is not there', { 'current-snapshot-id': 4, refs: {} }, 'cannot find current version'],
    ['a reference to a snapshot that is not there', { refs: { b: { 'snapshot-id': 4, type: 'branch' } } }, 'snapshot 4 for reference b'],
    ['a main branch elsewhere', { snapshots: [], 'current-snapshot-id': -1 }, 'reference main'],
    ['schemas of one id', twice('schemas'), 'schema id 0 is used twice'],
    ['specs of one id', twice('partition-specs'), 'partition spec id 0 is used twice'],
    ['snapshots of one id', twice('snapshots'), 'snapshot id 9007199254740993 is used twice'],
    ['a snapshot ahead of the table', { 'last-sequence-number': 0 }, 'greater than last sequence number 0'],
    ['a sequence number below zero', { 'last-sequence-number': -3 }, 'invalid sequence number -3'],
    ['a snapshot log that goes back', { 'snapshot-log': log(70_000, 9_000), 'last-updated-ms': 70_000 }, 'sorted snapshot log'],
    ['a log behind the last update', { 'snapshot-log': log(70_000), 'last-updated-ms': 9_000 }, 'before last snapshot log entry at 70000'],
    [
      'a tag that keeps snapshots',
      { refs: { t: { 'snapshot-id': 9_007_199_254_740_993n, type: 'tag', 'min-snapshots-to-keep': 1 } } },
      'tags do not',
    ],
    [
      'a reference of no kind',
      { refs: { t: { 'snapshot-id': 9_007_199_254_740_993n, type: 'label' } } },
      'invalid snapshot ref type: label',
    ],
    ['text for a number', { 'last-column-id': '3' }, 'cannot parse to an integer value: last-column-id'],
    ['no location', { location: undefined }, 'cannot parse missing string: location'],
  ])('refuses %s', (_, change, message) => {
    expect(refusal(change)).toMatchObject({
      code: 'ICEBERG_METADATA_INVALID',
      kind: 'corrupt',
      message: expect.stringContaining(message) as string,
    });
  });

  it('allows clocks to differ by a minute', () => {
    expect(refusal({ 'snapshot-log': log(70_000, 10_000), 'last-updated-ms': 10_000 })).toBeUndefined();
  });

  it('refuses versions it does not know, and types by column', () => {
    expect(refusal({ 'format-version': 4 })).toMatchObject({ code: 'ICEBERG_FORMAT_VERSION_UNSUPPORTED', kind: 'unsupported' });
    const schema = { type: 'struct', 'schema-id': 0, fields: [{ id: 1, name: 'shape', required: false, type: 'geometry(OGC:CRS84)' }] };
    expect(refusal({ schemas: [schema] })).toMatchObject({
      code: 'ICEBERG_TYPE_UNSUPPORTED',
      message: 'm: schema 0: column "shape" has the type geometry(OGC:CRS84), which this version does not read',
    });
  });
});

describe('schemas', () => {
  const nested = {
    type: 'struct',
    'schema-id': 3,
    'identifier-field-ids': [1],
    fields: [
      { id: 1, name: 'id', required: true, type: 'uuid', doc: 'key' },
      { id: 2, name: 'l', required: false, type: { type: 'list', 'element-id': 4, element: 'decimal(9, 2)', 'element-required': true } },
      {
        id: 3,
        name: 'm',
        required: false,
        type: { type: 'map', 'key-id': 5, key: 'int', 'value-id': 6, value: { type: 'struct', fields: [] }, 'value-required': false },
        'initial-default': null,
        'write-default': 9_007_199_254_740_993n,
      },
    ],
  };

  it('come back as they were', () => {
    const schema = schemaFromJson(nested, 's');
    expect(schema.struct.fields[0]).toEqual({
      name: 'id',
      type: { kind: 'string', format: 'uuid' },
      nullable: false,
      id: 1,
      metadata: { comment: 'key' },
    });
    expect(parseJson(printJson(schemaToJson(schema)), 's')).toEqual(parseJson(printJson(nested), 's'));
  });

  it.each([
    ['an id twice', { fields: [nested.fields[0], { ...nested.fields[0], name: 'b' }] }, 'field id 1 of "b" is used twice'],
    ['a name twice', { fields: [nested.fields[0], { ...nested.fields[0], id: 7 }] }, 'multiple fields for name id'],
    ['an identifier that is not there', { 'identifier-field-ids': [9] }, 'cannot add fieldId 9 as an identifier field'],
  ])('with %s are refused', (_, change, message) => {
    expect(() => schemaFromJson({ ...nested, ...change } as JsonObject, 's')).toThrow(message);
  });

  it.each([
    'boolean',
    'int',
    'long',
    'float',
    'double',
    'decimal(38, 0)',
    'date',
    'time',
    'timestamp',
    'timestamptz',
    'timestamp_ns',
    'timestamptz_ns',
    'string',
    'uuid',
    'fixed[16]',
    'binary',
  ])('have the type %s', (text) => {
    const type = icebergTypeOf(text);
    expect(type === undefined ? undefined : icebergTypeText(type)).toBe(text);
  });

  it('write small integers as int, and do not know other types', () => {
    expect([icebergTypeText({ kind: 'byte' }), icebergTypeText({ kind: 'short' })]).toEqual(['int', 'int']);
    expect(['geometry', 'decimal(39,0)', 'decimal(3,4)', 'fixed', ''].map(icebergTypeOf)).toEqual(Array(5).fill(undefined));
    expect(icebergTypeOf('DECIMAL(9,2)')).toEqual({ kind: 'decimal', precision: 9, scale: 2 });
  });
});

describe('metadata made by any updates', () => {
  it('is read as it was printed', () => {
    const ids = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });
    const text = fc.string();
    fc.assert(
      fc.property(
        fc.constantFrom<1 | 2 | 3>(1, 2, 3),
        fc.uniqueArray(ids, { maxLength: 5 }),
        fc.dictionary(text, text),
        (formatVersion, snapshotIds, properties) => {
          let metadata = createdTable({ formatVersion, properties });
          for (const [index, id] of snapshotIds.entries()) {
            const rows = formatVersion === 3 ? { firstRowId: metadata.nextRowId, addedRows: 5n } : {};
            const one = snapshot(id, formatVersion === 1 ? 0 : index + 1, { ...rows, summary: { operation: 'append', ...properties } });
            metadata = applyUpdates(metadata, commit(one, index % 2 === 0 ? 'main' : 'other'), options);
          }
          expect(readTableMetadata(Buffer.from(printTableMetadata(metadata)), 'm')).toEqual(metadata);
        },
      ),
      { seed: 20_261, numRuns: 60 },
    );
  });
});
