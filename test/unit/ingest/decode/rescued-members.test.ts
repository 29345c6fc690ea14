import { describe, expect, it } from 'vitest';
import { RecordDecoder } from '../../../../src/ingest/decode/record-decoder.ts';
import type { ColumnSource, DecodeSpec } from '../../../../src/protocol/sealed-batch.ts';
import type { DataType, Field } from '../../../../src/schema/types.ts';
import { field, recordOf, rowsOf, struct } from './decoding.ts';

const long = { kind: 'long' } as const;
const integer = { kind: 'integer' } as const;
const list = (element: DataType): DataType => ({ kind: 'list', element, elementNullable: true });
const map = (value: DataType): DataType => ({ kind: 'map', key: { kind: 'string' }, value, valueNullable: true });
const point = struct({ x: integer, y: integer });

/** The row, in which `r` is what was rescued, or the reason why there is none. */
function decode(payload: string, fields: readonly Field[], spec: Partial<DecodeSpec> = {}): unknown {
  const sources: readonly ColumnSource[] = [...fields.map(({ name }) => ({ kind: 'value', name }) as const), { kind: 'rescue' }];
  const schema = { kind: 'struct', fields: [...fields, field('r', { kind: 'string' })] } as const;
  const decoder = new RecordDecoder(schema, { sources, unknownMembers: 'ignore', ...spec });
  // Nothing of one record may be in the next.
  decoder.decode(recordOf('{"left":"behind","a":"text","p":{"x":1,"z":1}}'));
  decoder.reset();
  const refusal = decoder.decode(recordOf(payload));
  return refusal === undefined ? rowsOf(decoder.finish())[0] : refusal.reason;
}

describe('a column from the rescue', () => {
  const a = [field('a', integer)];

  it('is null for a record all of whose members have their columns', () => {
    expect(decode('{"a":1}', a)).toEqual({ a: 1, r: null });
    expect(decode('{}', a)).toEqual({ a: null, r: null });
  });

  it('has members that no column takes, as they stand in the payload', () => {
    expect(decode('{"b" : [1, {"c":null}] ,"a":1,"d\\u0041":1e400,"e":null}', a)).toEqual({
      a: 1,
      r: '{"b" : [1, {"c":null}],"d\\u0041":1e400,"e":null}',
    });
  });

  it('has values that do not fit their column, which is null then', () => {
    expect(decode('{"a":"text"}', a)).toEqual({ a: null, r: '{"a":"text"}' });
    expect(decode('{"a":5000000000,"b":true}', a)).toEqual({ a: null, r: '{"a":5000000000,"b":true}' });
    expect(decode('{"a":{"deep":[[[]]]}}', a)).toEqual({ a: null, r: '{"a":{"deep":[[[]]]}}' });
  });

  it('has the whole of a member in which something does not fit, and columns keep nothing half-read', () => {
    const nested = [field('p', point), field('l', list(point)), field('m', map(list(integer))), field('a', integer)];
    const payload = '{"p":{"x":1,"y":"no"},"l":[{"x":1,"y":2},{"x":"no"}],"m":{"k":[1,2],"j":[1,"no"]},"a":1}';
    expect(decode(payload, nested)).toEqual({ p: null, l: null, m: null, a: 1, r: payload.replace(',"a":1', '') });
  });

  it('has the whole of a member of which a part has no place; what has one is in its column', () => {
    expect(decode('{"p":{"x":1,"z":3}}', [field('p', point)])).toEqual({ p: { x: 1, y: null }, r: '{"p":{"x":1,"z":3}}' });
    expect(decode('{"l":[{"x":1,"z":3}],"p":{"x":2}}', [field('l', list(point)), field('p', point)])).toEqual({
      l: [{ x: 1, y: null }],
      p: { x: 2, y: null },
      r: '{"l":[{"x":1,"z":3}]}',
    });
  });

  it('takes no record that is no JSON, names a member twice, or lacks a required value', () => {
    expect(decode('{"b":1,"a":}', a)).toBe('invalid-json');
    expect(decode('{"a":tru}', a)).toBe('invalid-json');
    expect(decode('{"a":1,"a":2}', a)).toBe('duplicate-member');
    expect(decode('{"b":1}', [field('a', integer, false)])).toBe('missing-required');
    expect(decode('{"a":"text"}', [field('a', integer, false)])).toBe('wrong-type');
  });

  it('leaves nothing unknown to reject', () => {
    expect(decode('{"b":1,"p":{"z":1}}', [field('p', point)], { unknownMembers: 'reject' })).toEqual({
      p: { x: null, y: null },
      r: '{"b":1,"p":{"z":1}}',
    });
  });

  it('takes what there is where no other column reads the value', () => {
    expect(decode('{"b":1}', [])).toEqual({ r: '{"b":1}' });
  });

  it('has members of rows of change events, whichever side they are on', () => {
    const spec = { value: { kind: 'json', framed: false, envelope: 'debezium' } } as const;
    expect(decode('{"before":null,"after":{"a":1,"b":2},"op":"c","source":{"x":1}}', a, spec)).toEqual({ a: 1, r: '{"b":2}' });
    expect(decode('{"before":{"a":"x"},"after":null,"op":"d"}', a, spec)).toEqual({ a: null, r: '{"a":"x"}' });
  });

  it('has members that the schema of Connect’s JSON does not tell, in structs too', () => {
    const spec = { value: { kind: 'connect-json' } } as const;
    const schema =
      '{"type":"struct","fields":[{"type":"int32","field":"a"},{"type":"struct","field":"p","fields":[{"type":"int32","field":"z"}]}]}';
    expect(decode(`{"schema":${schema},"payload":{"a":1,"p":{"z":2}}}`, [...a, field('p', point)], spec)).toEqual({
      a: 1,
      p: { x: null, y: null },
      r: '{"p":{"z":2}}',
    });
  });

  it('is refused where nothing can be rescued as text, and twice', () => {
    const sources = [{ kind: 'value', name: 'a' }, { kind: 'rescue' }] as const;
    const schema = struct({ a: long, r: { kind: 'string' } });
    const make = (spec: Partial<DecodeSpec>) => () => new RecordDecoder(schema, { sources, unknownMembers: 'ignore', ...spec });
    const value = { kind: 'avro', schemas: 'registry', idIn: 'prefix' } as const;
    expect(make({ value })).toThrow('payloads of format avro have nothing for a column from the rescue');
    expect(make({ sources: [{ kind: 'rescue' }, { kind: 'rescue' }] })).toThrow('column "a" from the rescue has type long, not string');
  });
});
