import { afterAll, describe, expect, it } from 'vitest';
import { type JsonValue, parseJson } from '../../../src/base/bigint-json.ts';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { decodeRecords } from '../../../src/kafka/records/record-batch.ts';
import type { EncodedChanges, EncodeSpec, EncodeTask } from '../../../src/protocol/change-event.ts';
import type { StructType } from '../../../src/schema/types.ts';
import type { VersionChanges } from '../../../src/table/changes.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';
import { ChangeTable } from './change-table.ts';
import { ordersSpec as spec } from './orders-spec.ts';

function taskOf(changes: VersionChanges, more: Partial<EncodeTask> & { readonly spec?: EncodeSpec } = {}): EncodeTask {
  return { spec, changes, snapshot: false, fromOrdinal: 0, maxRows: 1000, maxBytes: 1e9, ...more };
}

interface SeenRecord {
  readonly partition: number;
  readonly key: string | undefined;
  readonly value: JsonValue | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timestampMs: number;
}

function recordsOf(encoded: EncodedChanges): readonly SeenRecord[] {
  return encoded.batches.flatMap((batch) =>
    decodeRecords(batch.bytes, batch).map((record) => ({
      partition: record.partition,
      key: record.key === undefined ? undefined : Buffer.from(record.key).toString(),
      value: record.value === undefined ? undefined : parseJson(Buffer.from(record.value).toString(), 'event'),
      headers: Object.fromEntries(record.headers.map(([name, value]) => [name, Buffer.from(value).toString()])),
      timestampMs: record.timestampMs,
    })),
  );
}

/** `op before.id after.id` of each event, `-` for a tombstone. */
function shorthand(encoded: EncodedChanges): readonly string[] {
  return recordsOf(encoded).map((record) => {
    const event = record.value;
    if (event === undefined) return `- ${record.key ?? ''}`;
    const { op, before, after } = event as { op: string; before: { id: number } | null; after: { id: number } | null };
    return `${op} ${before?.id ?? 'null'} ${after?.id ?? 'null'}`;
  });
}

function imagesOf(value: JsonValue): readonly JsonValue[] {
  const { before, after } = value as { readonly before: JsonValue; readonly after: JsonValue };
  return [before, after];
}

const shared: TestEngine = await openTestEngine();
afterAll(() => shared.close());

describe.each([
  ['held in memory', undefined],
  ['read by the engine', 0],
])('ParquetChangeEncoder of files %s', (_, maxHeldBytes) => {
  const encoderOf = ({ openStore }: ChangeTable): ParquetChangeEncoder =>
    new ParquetChangeEncoder({ openStore, openEngine: () => Promise.resolve(shared.engine), maxHeldBytes });

  it('prints a Debezium event with key, headers and the commit time for an inserted row', async () => {
    const table = new ChangeTable();
    const changes = await table.commit([{ kind: 'insert', rows: [{ id: 7, name: 'a "quoted"\n\u0001 äöü 😀' }] }]);
    const encoded = await encoderOf(table).encode(taskOf(changes));
    expect(recordsOf(encoded)).toEqual([
      {
        partition: 0,
        key: '{"id":7}',
        value: {
          before: null,
          after: { id: 7, name: 'a "quoted"\n\u0001 äöü 😀' },
          source: {
            version: '1',
            connector: 'delta',
            name: 'demo',
            db: 'sales',
            table: 'orders',
            ts_ms: 1_700_000_000_000,
            snapshot: 'false',
            tableVersion: 0,
            seq: 0,
          },
          op: 'c',
          ts_ms: 1_700_000_000_000,
          ts_us: 1_700_000_000_000_000,
          transaction: { id: 'sales.orders:0', total_order: 0 },
        },
        headers: { version: '0', committed_at: '1700000000000', op: 'c', feed: 'demo/sales.orders', table_id: 'table-1', ordinal: '0' },
        timestampMs: 1_700_000_000_000,
      },
    ]);
    expect(encoded).toMatchObject({ untilOrdinal: 1, complete: true, rowsByOperation: { c: 1, u: 0, d: 0, r: 0 } });
  });

  it('prints every type as the change event page says', async () => {
    const schema: StructType = {
      kind: 'struct',
      fields: [
        { name: 'flag', type: { kind: 'boolean' }, nullable: true },
        { name: 'small', type: { kind: 'byte' }, nullable: true },
        { name: 'whole', type: { kind: 'integer' }, nullable: true },
        { name: 'wide', type: { kind: 'long' }, nullable: true },
        { name: 'single', type: { kind: 'float' }, nullable: true },
        { name: 'real', type: { kind: 'double' }, nullable: true },
        { name: 'price', type: { kind: 'decimal', precision: 12, scale: 2 }, nullable: true },
        { name: 'huge', type: { kind: 'decimal', precision: 38, scale: 4 }, nullable: true },
        { name: 'data', type: { kind: 'binary' }, nullable: true },
        { name: 'day', type: { kind: 'date' }, nullable: true },
        { name: 'at', type: { kind: 'timestamp' }, nullable: true },
        { name: 'local', type: { kind: 'timestamp_ntz' }, nullable: true },
        {
          name: 'address',
          type: { kind: 'struct', fields: [{ name: 'ci"ty', type: { kind: 'string' }, nullable: true }] },
          nullable: true,
        },
        { name: 'tags', type: { kind: 'list', element: { kind: 'string' }, elementNullable: true }, nullable: true },
        { name: 'counts', type: { kind: 'map', key: { kind: 'string' }, value: { kind: 'long' }, valueNullable: true }, nullable: true },
      ],
    };
    const table = new ChangeTable(schema);
    const full = {
      flag: true,
      small: -128,
      whole: 2_147_483_647,
      wide: -9_223_372_036_854_775_808n,
      single: Math.fround(0.1),
      real: 1e300,
      price: '-0.05',
      huge: '-1234567890123456789012345678901234.5678',
      data: Uint8Array.of(0, 255, 16),
      day: -1,
      at: -1n,
      local: 253_402_300_799_999_999n,
      address: { 'ci"ty': null },
      tags: ['a', null, ''],
      counts: new Map([['x', 9_007_199_254_740_993n]]),
    };
    const odd = { real: Number.NaN, single: Number.NEGATIVE_INFINITY, wide: 9_007_199_254_740_991n, at: 1_714_558_272_000_001n };
    const changes = await table.commit([{ kind: 'insert', rows: [full, odd, {}] }]);
    const flat = { ...spec, envelope: 'flat', keyColumns: [] } as const;
    const encoded = await encoderOf(table).encode(taskOf(changes, { spec: flat }));
    const values = encoded.batches
      .flatMap((batch) => decodeRecords(batch.bytes, batch))
      .map((record) => Buffer.from(record.value ?? []).toString());
    const tail = '"_change_type":"insert","_commit_version":0,"_commit_timestamp":"2023-11-14T22:13:20.000000Z"}';
    expect(values).toEqual([
      '{"flag":true,"small":-128,"whole":2147483647,"wide":-9223372036854775808,"single":0.1,"real":1e+300,"price":"-0.05",' +
        '"huge":"-1234567890123456789012345678901234.5678","data":"AP8Q","day":"1969-12-31","at":"1969-12-31T23:59:59.999999Z",' +
        `"local":"9999-12-31T23:59:59.999999","address":{"ci\\"ty":null},"tags":["a",null,""],"counts":{"x":9007199254740993},${tail}`,
      '{"flag":null,"small":null,"whole":null,"wide":9007199254740991,"single":"-Infinity","real":"NaN","price":null,"huge":null,' +
        `"data":null,"day":null,"at":"2024-05-01T10:11:12.000001Z","local":null,"address":null,"tags":null,"counts":null,${tail}`,
      '{"flag":null,"small":null,"whole":null,"wide":null,"single":null,"real":null,"price":null,"huge":null,' +
        `"data":null,"day":null,"at":null,"local":null,"address":null,"tags":null,"counts":null,${tail}`,
    ]);
  });

  it('tells images without a partner of their key as delete and insert in the flat envelope, too', async () => {
    const table = new ChangeTable();
    const rows = [
      { id: 1, name: 'old key', _change_type: 'update_preimage' },
      { id: 2, name: 'new key', _change_type: 'update_postimage' },
      { id: 3, name: 'before', _change_type: 'update_preimage' },
      { id: 3, name: 'after', _change_type: 'update_postimage' },
    ];
    const changes = await table.commit([{ kind: 'recorded', rows }]);
    const typesOf = async (keyColumns: readonly string[]): Promise<readonly string[]> => {
      const encoded = await encoderOf(table).encode(taskOf(changes, { spec: { ...spec, envelope: 'flat', keyColumns } }));
      return recordsOf(encoded).map(({ value }) => {
        const { id, _change_type: type } = value as { readonly id: number; readonly _change_type: string };
        return `${type} ${id}`;
      });
    };
    expect(await typesOf(['id'])).toEqual(['delete 1', 'insert 2', 'update_preimage 3', 'update_postimage 3']);
    expect(await typesOf([])).toEqual(['update_preimage 1', 'update_postimage 2', 'update_preimage 3', 'update_postimage 3']);
  });

  it('fills partition columns from the log, whatever the spelling of a timestamp', async () => {
    const schema: StructType = {
      kind: 'struct',
      fields: [
        { name: 'region', type: { kind: 'string' }, nullable: true },
        { name: 'id', type: { kind: 'long' }, nullable: false },
        { name: 'at', type: { kind: 'timestamp' }, nullable: true },
      ],
    };
    const table = new ChangeTable(schema);
    const changes = await table.commit([
      { kind: 'insert', rows: [{ id: 1 }], partitionValues: { region: 'a"b', at: '2024-05-01T10:00:00.000000Z' } },
      { kind: 'insert', rows: [{ id: 2 }], partitionValues: { region: undefined, at: '2024-05-01 10:00:00' } },
    ]);
    const records = recordsOf(await encoderOf(table).encode(taskOf(changes)));
    expect(records.map((record) => (record.value as { after: JsonValue }).after)).toEqual([
      { region: 'a"b', id: 1, at: '2024-05-01T10:00:00.000000Z' },
      { region: null, id: 2, at: '2024-05-01T10:00:00.000000Z' },
    ]);
  });

  it('pairs images by key and follows a delete with a tombstone', async () => {
    const table = new ChangeTable();
    const rows = [
      { id: 1, name: 'old', _change_type: 'update_preimage' },
      { id: 2, name: 'old', _change_type: 'update_preimage' },
      { id: 1, name: 'new', _change_type: 'update_postimage' },
      { id: 2, name: 'new', _change_type: 'update_postimage' },
      { id: 3, name: 'x', _change_type: 'delete' },
      { id: 4, name: 'y', _change_type: 'insert' },
    ];
    const changes = await table.commit([{ kind: 'recorded', rows }]);
    const encoded = await encoderOf(table).encode(taskOf(changes));
    expect(shorthand(encoded)).toEqual(['d 3 null', '- {"id":3}', 'u 1 1', 'u 2 2', 'c null 4']);
    expect(recordsOf(encoded).map((record) => record.headers['ordinal'])).toEqual(['0', '0', '1', '3', '5']);
    expect(recordsOf(encoded)[1]?.headers['tombstone']).toBe('true');
    expect(encoded).toMatchObject({ untilOrdinal: 6, complete: true, rowsByOperation: { c: 1, u: 2, d: 1, r: 0 } });
  });

  it('publishes an update that changes the key as a delete of the old and an insert of the new key', async () => {
    const table = new ChangeTable();
    const rows = [
      { id: 1, name: 'a', _change_type: 'update_preimage' },
      { id: 9, name: 'a', _change_type: 'update_postimage' },
    ];
    const changes = await table.commit([{ kind: 'recorded', rows }]);
    const encoded = await encoderOf(table).encode(taskOf(changes));
    expect(shorthand(encoded)).toEqual(['d 1 null', '- {"id":1}', 'c null 9']);
  });

  it('removes before it adds across files, so that a row that moved between partitions stays present', async () => {
    // An update of a partition column puts the postimage into a file that may sort before the file of the preimage.
    const table = new ChangeTable();
    const changes = await table.commit([
      { kind: 'recorded', rows: [{ id: 1, name: 'new', _change_type: 'update_postimage' }] },
      { kind: 'recorded', rows: [{ id: 1, name: 'old', _change_type: 'update_preimage' }] },
    ]);
    const encoded = await encoderOf(table).encode(taskOf(changes));
    expect(shorthand(encoded)).toEqual(['d 1 null', '- {"id":1}', 'c null 1']);
  });

  it('pairs neighbours without a key only in files that alternate', async () => {
    const table = new ChangeTable();
    const image = (id: number, side: string): { id: number; name: string; _change_type: string } => ({
      id,
      name: side,
      _change_type: `update_${side}image`,
    });
    const changes = await table.commit([
      { kind: 'recorded', rows: [image(1, 'pre'), image(1, 'post')] },
      { kind: 'recorded', rows: [image(2, 'pre'), image(3, 'pre'), image(2, 'post'), image(3, 'post')] },
    ]);
    const keyless = { ...spec, keyColumns: [] };
    const encoded = await encoderOf(table).encode(taskOf(changes, { spec: keyless }));
    expect(shorthand(encoded)).toEqual(['d 2 null', 'd 3 null', 'u 1 1', 'c null 2', 'c null 3']);
  });

  it('gives the same records whatever the size of the runs and never tears a pair', async () => {
    const table = new ChangeTable();
    const changes = await table.commit([
      { kind: 'delete', rows: [{ id: 1 }, { id: 2 }], counted: false },
      {
        kind: 'recorded',
        rows: [
          { id: 3, _change_type: 'update_preimage' },
          { id: 3, _change_type: 'update_postimage' },
          { id: 4, _change_type: 'delete' },
        ],
      },
      { kind: 'insert', rows: [{ id: 5 }, { id: 6 }] },
    ]);
    const encoder = encoderOf(table);
    const whole = recordsOf(await encoder.encode(taskOf(changes)));
    for (const envelope of ['debezium', 'flat'] as const) {
      const all = recordsOf(await encoder.encode(taskOf(changes, { spec: { ...spec, envelope } })));
      for (let maxRows = 1; maxRows < 8; maxRows++) {
        const pieces: SeenRecord[] = [];
        let fromOrdinal = 0;
        for (let complete = false; !complete; ) {
          const piece = await encoder.encode(taskOf(changes, { spec: { ...spec, envelope }, fromOrdinal, maxRows }));
          expect(piece.untilOrdinal).toBeGreaterThan(fromOrdinal);
          pieces.push(...recordsOf(piece));
          fromOrdinal = piece.untilOrdinal;
          complete = piece.complete;
        }
        expect(fromOrdinal).toBe(7);
        expect(pieces).toEqual(all);
      }
    }
    expect(whole.length).toBe(9);
  });

  it('ends a run at its limit of bytes after at least one event', async () => {
    const table = new ChangeTable();
    const changes = await table.commit([{ kind: 'insert', rows: [{ id: 1 }, { id: 2 }] }]);
    const encoded = await encoderOf(table).encode(taskOf(changes, { maxBytes: 1 }));
    expect(encoded).toMatchObject({ untilOrdinal: 1, complete: false });
  });

  it('gives equal bytes for equal tasks', async () => {
    const table = new ChangeTable();
    const rows = Array.from({ length: 500 }, (_, id) => ({ id, name: `row ${id}` }));
    const changes = await table.commit([{ kind: 'insert', rows }]);
    const task = taskOf(changes, { spec: { ...spec, partitions: 4, compression: 'gzip' } });
    const first = await encoderOf(table).encode(task);
    expect(await encoderOf(table).encode(task)).toEqual(first);
    expect(new Set(recordsOf(first).map((record) => record.partition)).size).toBe(4);
  });

  it('publishes the columns that are selected and numbers rows as without them', async () => {
    const table = new ChangeTable({
      kind: 'struct',
      fields: ['region', 'id', 'name', 'secret'].map((name) => ({ name, type: { kind: 'string' }, nullable: true })),
    });
    const partitionValues = { region: 'eu' };
    const image = (word: string, secret: string): Record<string, string> => ({ id: 'a', name: 'n', secret, _change_type: word });
    const changes = await table.commit([
      { kind: 'delete', rows: [{ id: 'd', name: 'gone', secret: 's' }], partitionValues },
      { kind: 'recorded', rows: [image('update_preimage', 'old'), image('update_postimage', 'new')], partitionValues },
    ]);
    const records = recordsOf(await encoderOf(table).encode(taskOf(changes, { spec: { ...spec, select: ['name', 'id', 'region'] } })));
    expect(records.map(({ key, value, headers }) => [headers['ordinal'], key, value === undefined ? value : imagesOf(value)])).toEqual([
      ['0', '{"id":"d"}', [{ region: 'eu', id: 'd', name: 'gone' }, null]],
      ['0', '{"id":"d"}', undefined],
      [
        '1',
        '{"id":"a"}',
        [
          { region: 'eu', id: 'a', name: 'n' },
          { region: 'eu', id: 'a', name: 'n' },
        ],
      ],
    ]);
    const unknown = encoderOf(table).encode(taskOf(changes, { spec: { ...spec, select: ['id', 'nope'] } }));
    await expect(unknown).rejects.toMatchObject({ code: 'CDF_COLUMN_UNKNOWN', message: expect.stringContaining('"nope"') as string });
  });

  it('marks snapshot rows', async () => {
    const table = new ChangeTable();
    const changes = await table.commit([{ kind: 'insert', rows: [{ id: 1 }] }]);
    const [record] = recordsOf(await encoderOf(table).encode(taskOf(changes, { snapshot: true })));
    expect(record).toMatchObject({ value: { op: 'r', source: { snapshot: 'true' } }, headers: { snapshot: 'true' } });
  });

  it('refuses a missing file as a gap, an unknown key column and a count the log has wrong', async () => {
    const table = new ChangeTable();
    const changes = await table.commit([{ kind: 'insert', rows: [{ id: 1 }] }]);
    const encoder = encoderOf(table);
    await expect(encoder.encode(taskOf(changes, { spec: { ...spec, keyColumns: ['nope'] } }))).rejects.toMatchObject({
      code: 'CDF_KEY_COLUMN_UNKNOWN',
    });
    const miscounted = { ...changes, files: changes.files.map((file) => ({ ...file, rowCount: 3, path: file.path })) };
    await expect(encoderOf(table).encode(taskOf(miscounted))).rejects.toMatchObject({ code: 'CDF_FILE_CORRUPT' });
    const lost = await table.commit([{ kind: 'insert', rows: [{ id: 2 }] }]);
    await table.deleteFiles(1);
    await expect(encoderOf(table).encode(taskOf(lost))).rejects.toMatchObject({ code: 'CDF_GAP', kind: 'not-found' });
  });
});
