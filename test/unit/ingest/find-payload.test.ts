import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load-config.ts';
import { newPipelineYaml } from '../../../src/config/new-pipeline.ts';
import { printColumnType } from '../../../src/expr/parse/column-type.ts';
import { findPayload } from '../../../src/ingest/infer/find-payload.ts';
import type { FoundPayload, SampledRecord } from '../../../src/ingest/infer/found-payload.ts';

function samples(...values: readonly (string | Uint8Array | undefined)[]): readonly SampledRecord[] {
  return values.map((value) => ({ value: typeof value === 'string' ? Buffer.from(value) : value, headers: [] }));
}

const find = (...values: readonly (string | Uint8Array | undefined)[]): Promise<FoundPayload> =>
  findPayload(samples(...values), { limits: { timesOfDay: false, anyNames: false }, schemaOf: undefined });

const columnsOf = ({ row }: FoundPayload): Readonly<Record<string, string>> =>
  Object.fromEntries(row.columns.map(({ name, type }) => [name, printColumnType(type)]));
const leftOf = ({ row }: FoundPayload): Readonly<Record<string, string>> =>
  Object.fromEntries(row.left.map(({ name, why }) => [name, why]));
const settingsOf = ({ value }: FoundPayload): object => Object.fromEntries(value);

describe('columns of JSON objects', () => {
  it.each([
    [['{"a":1}', '{"a":-5}'], { a: 'long' }],
    [['{"a":1}', '{"a":2.5}'], { a: 'double' }],
    [['{"a":9007199254740993}'], { a: 'long' }],
    [['{"a":18446744073709551615}'], { a: 'decimal(38,0)' }],
    [['{"a":"2024-01-31"}'], { a: 'date' }],
    [['{"a":"2024-01-31T10:00:00Z"}', '{"a":"2024-01-31 10:00:00.123+02:00"}'], { a: 'timestamp' }],
    [['{"a":"2024-01-31T10:00:00Z"}', '{"a":"soon"}'], { a: 'string' }],
    [['{"a":"2024-01-31T10:00:00.123456789Z"}'], { a: 'string' }],
    [['{"a":true}', '{"a":null}', '{}'], { a: 'boolean' }],
    [['{"a":{"b":1}}', '{"a":{"c_d":["x"]}}'], { a: 'struct<b:long,c_d:array<string>>' }],
    [['{"a":[]}', '{"a":[{"x":1}]}'], { a: 'array<struct<x:long>>' }],
    [['{"A":1,"a":"x"}'], { A: 'long' }],
  ])('%j', async (values, columns) => {
    const found = await find(...values);
    expect([settingsOf(found), columnsOf(found)]).toEqual([{ format: 'json' }, columns]);
  });

  it('what has no type is left out, with the reason', async () => {
    const found = await find('{"id":1,"n":null,"m":1,"e":[],"o":{}}', '{"id":2,"n":null,"m":"x","e":[],"o":{}}');
    expect(columnsOf(found)).toEqual({ id: 'long' });
    expect(leftOf(found)).toEqual({
      n: 'null in all 2 records that have it',
      m: 'number in 1, text in 1: no type takes all of these',
      e: 'an empty list in all 2 records that have it',
      o: 'an object without members',
    });
  });

  it('names that go on and on are keys of a map', async () => {
    const many = Array.from({ length: 300 }, (_, index) => `"k${index}":${index}`).join(',');
    expect(columnsOf(await find(`{"a":{${many}}}`))).toEqual({ a: 'map<string,long>' });
  });
});

describe('how values are encoded', () => {
  const event = '{"op":"u","before":null,"after":{"id":1,"v":"x"},"source":{"ts_ms":5},"ts_ms":6}';
  const eventColumns = { id: 'long', v: 'string', __op: 'string', __deleted: 'boolean', __source_ts_ms: 'long' };
  const schema =
    '{"type":"struct","fields":[{"field":"id","type":"int32"},{"field":"at","type":"int64","name":"org.apache.kafka.connect.data.Timestamp"}]}';

  it.each<[string, readonly (string | Uint8Array | undefined)[], object, object]>([
    ['Debezium without schemas', [event, undefined], { format: 'json', envelope: 'debezium' }, eventColumns],
    [
      'Kafka Connect’s JSON',
      [`{"schema":${schema},"payload":{"id":1,"at":2}}`],
      { format: 'connect-json' },
      { id: 'integer', at: 'timestamp' },
    ],
    [
      'compressed JSON with tombstones',
      [gzipSync('{"a":1}'), undefined],
      { format: 'json', compression: 'gzip', tombstones: 'skip' },
      { a: 'long' },
    ],
    [
      'CSV by semicolons',
      ['1;"a;b";2.5\n', '2;;7\n'],
      { format: 'csv', fields: ['field1', 'field2', 'field3'], delimiter: ';' },
      { field1: 'long', field2: 'string', field3: 'double' },
    ],
    ['text', ['hello', 'world, again'], { format: 'string' }, { value: 'string' }],
    ['bytes', [Uint8Array.of(0x80, 0xff), Uint8Array.of(1, 2)], { format: 'bytes' }, { value: 'binary' }],
    ['a schema of a registry that is not named', [Uint8Array.of(0, 0, 0, 0, 7, 2)], { format: 'avro' }, {}],
    [
      'single objects of Avro',
      [Uint8Array.of(0xc3, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9)],
      { format: 'avro', schemaId: 'single-object', schema: '' },
      {},
    ],
    ['nothing', [], {}, {}],
  ])('%s', async (_, values, settings, columns) => {
    const found = await find(...values);
    expect([settingsOf(found), columnsOf(found)]).toEqual([settings, columns]);
  });

  it('of compressed values the newest are unpacked, as far as memory is given to all of them', async () => {
    const packed = (name: string): Uint8Array => gzipSync(`{"${name}":1,"pad":"${' '.repeat(40 * 1024 * 1024)}"}`);
    expect(columnsOf(await find(packed('older'), packed('newer')))).toEqual({ newer: 'long', pad: 'string' });
  });

  it('what one record in ten is does not count, and is told', async () => {
    const found = await find(...Array.from({ length: 9 }, () => '{"a":1}'), 'not json');
    expect(columnsOf(found)).toEqual({ a: 'long' });
    expect(found.notes).toEqual(['1 of 10 values are no JSON object, and would be dead letters.']);
  });

  it.each<[string, string, object, string]>([
    ['change events', event, { format: 'json', envelope: 'debezium' }, 'no change event'],
    ['Kafka Connect’s JSON', `{"schema":${schema},"payload":{"id":1}}`, { format: 'connect-json' }, 'not what Connect’s converter writes'],
  ])('nor does it among %s', async (_, most, settings, what) => {
    const found = await find(...Array.from({ length: 9 }, () => most), '{"id":1}');
    expect([settingsOf(found), found.notes[0]]).toEqual([settings, `1 of 10 values are ${what}, and would be dead letters.`]);
  });
});

describe('the configuration that is written', () => {
  it('is valid whatever members are called', async () => {
    const payload = await find('{"yes":1,"a b":2,"x: y # z":3,"\\n":null,"`":{"p,q":1},"null":"2024-01-01","é":true}');
    const yaml = newPipelineYaml({
      topic: 'a.b',
      table: 'a_b',
      format: 'delta',
      brokers: ['k:9092'],
      registryUrl: undefined,
      payload,
      basis: 'one\nrecord',
    });
    const { config } = loadConfig({ files: ['t.yaml'], env: {}, workingDir: '/', readText: () => yaml });
    const [table] = config.tables;
    expect(table?.definition.schema.fields.map(({ name }) => name)).toEqual(['yes', 'a_b', 'x:_y_#_z', 'null', 'é']);
    expect(table?.sources.get('a_b')).toEqual({ kind: 'value', name: 'a b' });
    expect(config.ingest.routes).toMatchObject([{ topics: ['a.b'], table: 'a_b', value: { kind: 'json' } }]);
  });
});
