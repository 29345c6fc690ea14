import { describe, expect, it } from 'vitest';
import { RecordDecoder } from '../../../../src/ingest/decode/record-decoder.ts';
import type { ValueEncoding } from '../../../../src/protocol/payload-encoding.ts';
import type { StructType } from '../../../../src/schema/types.ts';
import { recordOf } from './decoding.ts';

/* Members that no column takes are counted in every encoding: of the row itself, whatever they hold. */

const avro = '{"type":"record","name":"R","fields":[{"name":"a","type":"long"},{"name":"b","type":"long"},{"name":"c","type":"string"}]}';
const event = (row: string): string => `{"op":"c","before":null,"after":${row},"source":{"x":1,"y":2},"ts_ms":1,"more":1}`;
const json = '{"a":1,"b":2,"c":{"d":3,"e":4}}';

const cases: readonly (readonly [string, ValueEncoding, string | Uint8Array, number])[] = [
  ['JSON', { kind: 'json', framed: false }, json, 2],
  ['JSON with all its members taken', { kind: 'json', framed: false }, '{"a":1}', 0],
  ['JSON behind an id', { kind: 'json', framed: true }, `\u0000\u0000\u0000\u0000\u0007${json}`, 2],
  [
    'Connect’s JSON',
    { kind: 'connect-json' },
    '{"schema":{"type":"struct","fields":[{"field":"a","type":"int64"},{"field":"b","type":"int64"}]},"payload":{"a":1,"b":2}}',
    1,
  ],
  ['an event', { kind: 'json', framed: false, envelope: 'debezium' }, event(json), 2],
  ['Avro', { kind: 'avro', schemas: 'given', schema: avro, framed: false }, Uint8Array.of(2, 4, 2, 0x78), 2],
  [
    'Protobuf',
    { kind: 'protobuf', schemas: 'given', schema: 'syntax = "proto3"; message M { int64 a = 1; int64 b = 2; }', message: 'M' },
    // b, a, and field 9, which the schema does not have.
    Uint8Array.of(0x10, 5, 0x08, 1, 0x48, 1),
    2,
  ],
  ['CSV', { kind: 'csv', fields: ['a', 'b', 'c'], delimiter: ',' }, '1,2,x', 2],
  ['text', { kind: 'string' }, 'x', 0],
];

describe('members that no column takes are counted', () => {
  it.each(cases)('%s', (_, value, payload, unread) => {
    const type = value.kind === 'string' ? ({ kind: 'string' } as const) : ({ kind: 'long' } as const);
    const schema: StructType = { kind: 'struct', fields: [{ name: 'a', type, nullable: true }] };
    const decoder = new RecordDecoder(schema, { sources: [{ kind: 'value', name: 'a' }], unknownMembers: 'ignore', value });
    for (const count of [1, 2, 3]) {
      expect(decoder.decode(recordOf(payload))).toBeUndefined();
      expect(decoder.unreadMembers).toBe(count * unread);
    }
  });
});
