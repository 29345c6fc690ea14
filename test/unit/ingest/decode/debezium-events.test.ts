import { describe, expect, it } from 'vitest';
import { parseColumnType } from '../../../../src/expr/parse/column-type.ts';
import { RecordDecoder } from '../../../../src/ingest/decode/record-decoder.ts';
import type { ValueEncoding } from '../../../../src/protocol/payload-encoding.ts';
import { recordOf, rowsOf, type Value } from './decoding.ts';

const json: ValueEncoding = { kind: 'json', framed: false, envelope: 'debezium', tombstones: 'skip' };
const connect: ValueEncoding = { kind: 'connect-json' };

function decoderOf(
  columns: Readonly<Record<string, string>>,
  value: ValueEncoding,
  unknownMembers: 'ignore' | 'reject' = 'ignore',
): RecordDecoder {
  const fields = Object.entries(columns).map(([name, type]) => {
    return { name, type: parseColumnType(type.replace('!', '')), nullable: !type.endsWith('!') };
  });
  const sources = fields.map(({ name }) => ({ kind: 'value', name }) as const);
  return new RecordDecoder({ kind: 'struct', fields }, { sources, unknownMembers, value });
}

/** The row, or why there is none. */
function read(decoder: RecordDecoder, payload: string | undefined): Value {
  const refusal = decoder.decode(recordOf(payload));
  const [row = null] = rowsOf(decoder.finish());
  if (refusal !== undefined) expect(row).toBeNull();
  return refusal?.noRow ?? refusal?.message ?? row;
}

describe('an event of Debezium in JSON', () => {
  const columns = { id: 'long', __op: 'string', __deleted: 'boolean', __lsn: 'long', __ts_ms: 'long', __transaction_id: 'string' };
  const decoder = decoderOf(columns, json);
  const source = '"source":{"lsn":7,"table":"t"}';
  const none = { __lsn: null, __ts_ms: null, __transaction_id: null };

  it.each([
    [
      `{"before":null,"after":{"id":1},${source},"op":"c","ts_ms":5}`,
      { id: 1n, __op: 'c', __deleted: false, __lsn: 7n, __ts_ms: 5n, __transaction_id: null },
    ],
    [`{"op":"u","after":{"id":2},"before":{"id":1}}`, { id: 2n, __op: 'u', __deleted: false, ...none }],
    [
      `{"op":"d","before":{"id":1,"more":[{}]},"after":null,"transaction":{"id":"9"}}`,
      { id: 1n, __op: 'd', __deleted: true, ...none, __transaction_id: '9' },
    ],
    [`{"before":{"id":1},"op":"d"}`, { id: 1n, __op: 'd', __deleted: true, ...none }],
    [`{"op":"r","after":{},"source":null,"unknown":{"a":1}}`, { id: null, __op: 'r', __deleted: false, ...none }],
    [`{"op":"t","before":null,"after":null,${source}}`, 'truncate'],
    [`{"op":"m","message":{"prefix":"p"}}`, 'message'],
    ['{"ts_ms":5}', 'heartbeat'],
    ['{"status":"BEGIN","id":"9","event_count":null,"data_collections":null,"ts_ms":5}', 'transaction'],
    ['{}', 'the payload is no event of Debezium: it has no "op"'],
    ['{"id":1}', 'the payload is no event of Debezium: it has no "op"'],
    [
      '{"schema":{},"payload":{"op":"c","after":{"id":1}}}',
      'the payload is no event of Debezium but has one in its "payload", beside its "schema": set value.format of the route to connect-json',
    ],
    [
      '\u0000\u0000\u0000\u0000\u0007{"op":"c","after":{"id":1}}',
      'not valid JSON at byte 0: it begins with the byte 0 and the id of a schema, as serializers with a registry write it; set value.schemaId of the route to prefix',
    ],
    [
      '\u0000\u0000\u0000\u0000\u0007\u0002',
      'not valid JSON at byte 0: it begins with the byte 0 and the id of a schema, as serializers with a registry write it; set value.format of the route to what follows it',
    ],
    ['{"op":"x","after":{"id":1}}', 'the payload is no event of Debezium: its operation "x" is none of c, u, d, r, t and m'],
    ['{"op":"c","before":{"id":1}}', 'the payload is no event of Debezium: its operation is "c" and it has no "after"'],
    ['{"op":"d","after":{"id":1}}', 'the payload is no event of Debezium: its operation is "d" and it has no "before"'],
    ['{"op":"d","before":{"id":1},"after":{"id":2}}', 'the payload is no event of Debezium: its operation is "d" and it has an "after"'],
    ['{"op":"c","after":[]}', '[] is not the object that "after" of an event is'],
    ['{"op":1,"after":{"id":1}}', '1 is not an operation of Debezium'],
    ['{"op":"c","after":{"id":1},"after":{"id":2}}', 'member "after" is there more than once'],
    ['{"op":"c","after":{"id":"x"}}', 'column "id": "x" is not a long'],
    ['{"op":"d","before":{"id":"x"}}', 'column "id": "x" is not a long'],
    ['{"op":"c","after":{"id":1},"source":{"lsn":"x"}}', 'column "__lsn": "x" is not a long'],
    ['{"op":"c","after":{"id":1}', "not valid JSON at byte 26: expected ',' or '}'"],
    ['{"op":"c","after":{"id":1},}', 'not valid JSON at byte 27: expected a member name'],
    ['{"op":"c","after":{"id":1}} x', 'not valid JSON at byte 28: expected the end of the payload'],
    ['[]', '[] is not a JSON object'],
    [undefined, 'tombstone'],
  ])('%s', (payload, expected) => {
    expect(read(decoder, payload)).toEqual(expected);
  });

  it('that lacks what a required column takes is rejected', () => {
    const strict = decoderOf({ id: 'long', __lsn: 'long!', __ts_ms: 'long!' }, json);
    expect(read(strict, '{"op":"c","after":{"id":1},"source":null,"ts_ms":1}')).toBe('column "__lsn": a required column has no value');
    expect(read(strict, '{"op":"c","after":{"id":1},"source":{"lsn":1}}')).toBe('column "__ts_ms": a required column has no value');
  });

  it('has unknown members in its row alone', () => {
    const strict = decoderOf({ id: 'long' }, json, 'reject');
    expect(read(strict, '{"op":"c","after":{"id":1},"more":1,"source":{"lsn":1}}')).toEqual({ id: 1n });
    expect(read(strict, '{"op":"c","after":{"id":1,"more":1}}')).toBe('member "more" is a member that no column takes');
  });

  it('is refused a column that cannot tell whether a row was deleted', () => {
    expect(() => decoderOf({ __deleted: 'long' }, json)).toThrow('column "__deleted" of type long cannot hold whether the row was deleted');
  });
});

describe('a payload with the schema of Connect', () => {
  const field = (type: string, name: string | undefined, more: object = {}): string =>
    JSON.stringify({ type: 'struct', fields: [{ type, optional: true, field: 'v', name, ...more }] });
  const decimal = (scale: number): string =>
    field('bytes', 'org.apache.kafka.connect.data.Decimal', { parameters: { scale: String(scale) } });
  const variable = field('struct', 'io.debezium.data.VariableScaleDecimal', {
    fields: [
      { type: 'int32', field: 'scale' },
      { type: 'bytes', field: 'value' },
    ],
  });
  const base64 = (...bytes: readonly number[]): string => JSON.stringify(Buffer.from(bytes).toString('base64'));

  it.each([
    [decimal(2), base64(0x04, 0xd2), 'decimal(9,2)', 1234n],
    [decimal(2), base64(0xff, 0x85), 'decimal(9,2)', -123n],
    [decimal(0), base64(0x0c), 'decimal(9,2)', 1200n],
    [decimal(2), '12.34', 'decimal(9,2)', 1234n],
    [decimal(3), base64(0x04, 0xd2), 'decimal(9,2)', 'column "v": 1234E-3 does not fit a decimal(9,2)'],
    [decimal(2), '"?"', 'decimal(9,2)', 'column "v": "?" is not base64 text'],
    [decimal(2), `"${Buffer.alloc(40, 0x7f).toString('base64')}"`, 'decimal(38,2)', 'column "v": has more than 38 digits'],
    [variable, `{"value":${base64(0x04, 0xd2)},"scale":1}`, 'decimal(9,2)', 12340n],
    [variable, '{"scale":1}', 'decimal(9,2)', 'column "v": {"scale":1} is no decimal with its scale'],
    [variable, `{"scale":2147483647,"value":${base64(1)}}`, 'decimal(9,2)', 'column "v": 1E-2147483647 does not fit a decimal(9,2)'],
    [field('int32', 'io.debezium.time.Date'), '19782', 'date', 19_782],
    [
      field('int32', 'io.debezium.time.Date'),
      '2932897',
      'date',
      'column "v": 2932897 does not fit a date of the years 0001 to 9999 (in days since 1970)',
    ],
    [field('int32', undefined), '19782', 'date', 'column "v": 19782 is not a date'],
    [field('int64', 'io.debezium.time.MicroTime'), '86399999999', 'time', 86_399_999_999n],
    [field('int64', 'io.debezium.time.MicroTime'), '86400000000', 'time', 'column "v": 86400000000 does not fit a time'],
    [field('int64', 'io.debezium.time.MicroTime'), '86400000000', 'long', 86_400_000_000n],
    [field('int64', 'io.debezium.time.Timestamp'), '5', 'timestamp_ntz', 5000n],
    [field('int64', 'io.debezium.time.NanoTimestamp'), '5001', 'timestamp_ntz', 'column "v": 5001 is in no whole microseconds'],
    [
      field('int64', 'io.debezium.time.MicroTimestamp'),
      '5',
      'timestamp',
      'column "v": 5 is not a timestamp (YYYY-MM-DDThh:mm:ss, optional fraction, and Z or an offset); a bare number does not say its unit',
    ],
    [field('int64', 'org.apache.kafka.connect.data.Timestamp'), '-1', 'timestamp', -1000n],
    [field('string', 'io.debezium.time.ZonedTimestamp'), '"1970-01-01T00:00:00Z"', 'timestamp', 0n],
    [field('bytes', undefined), base64(1, 2), 'binary', 'hex:0102'],
    [field('bytes', undefined), base64(1, 2), 'string', 'column "v": "AQI=" is not a string: it is bytes'],
    [field('array', undefined, { items: { type: 'int32', name: 'io.debezium.time.Date' } }), '[1,null]', 'array<date>', [1, null]],
    [
      field('map', undefined, { keys: { type: 'string' }, values: { type: 'int32', name: 'io.debezium.time.Date' } }),
      '{"a":1}',
      'map<string,date>',
      [['a', 1]],
    ],
    [
      field('struct', undefined, { fields: [{ type: 'int32', name: 'io.debezium.time.Date', field: 'd' }] }),
      '{"d":1}',
      'struct<d:date>',
      { d: 1 },
    ],
  ])('%s: %s as %s', (schema, value, type, expected) => {
    const decoder = decoderOf({ v: type }, connect);
    const payload = `{"schema":${schema},"payload":{"v":${value}}}`;
    const wanted = typeof expected === 'string' && expected.startsWith('column') ? expected : { v: expected };
    expect(read(decoder, payload)).toEqual(wanted);
    // The schema is known by its bytes now, and may stand behind the payload.
    expect(read(decoder, payload)).toEqual(wanted);
    if (typeof wanted !== 'string') expect(read(decoder, `{"payload":{"v":${value}},"schema":${schema}}`)).toEqual(wanted);
  });

  it.each([
    ['{"schema":null,"payload":{"v":1}}', { v: 1n }],
    ['{"schema":{"type":"struct","fields":[]},"payload":null}', 'the payload is null'],
    ['{"schema":{"fields":[]},"payload":{"v":1}}', 'the schema before the payload has no "type"'],
    [
      '{"schema":{"type":"struct","fields":[{"type":"int32"}]},"payload":{"v":1}}',
      'the schema before the payload has a field without name',
    ],
    ['{"schema":{"type":"string"},"payload":"x"}', '"x" is not a JSON object'],
    ['{"payload":{"v":1}}', 'the payload is not the {"schema", "payload"} of Kafka Connect’s JSON converter'],
    ['{"v":1}', 'the payload is not the {"schema", "payload"} of Kafka Connect’s JSON converter'],
    ['{"schema":null,"payload":{"v":1},"more":1}', 'the payload is not the {"schema", "payload"} of Kafka Connect’s JSON converter'],
    ['{"schema":nul,"payload":{"v":1}}', 'not valid JSON at byte 10: expected a value'],
  ])('%s', (payload, expected) => {
    expect(read(decoderOf({ v: 'long' }, connect), payload)).toEqual(expected);
  });
});
