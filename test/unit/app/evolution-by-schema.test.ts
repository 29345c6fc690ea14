import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import avsc from 'avsc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tableFormatNames } from '../../../src/table/formats.ts';
import { EvolvingTable, type EvolvingTableSettings } from '../../support/evolving-table.ts';

const everything = '{ addColumns: true, widenTypes: true, relaxRequired: true }';
let directory: string;
let opened: EvolvingTable[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'evolution-'));
});

afterEach(async () => {
  for (const table of opened) await table.close();
  opened = [];
  rmSync(directory, { recursive: true, force: true });
});

function open(settings: Omit<EvolvingTableSettings, 'directory' | 'evolve'>): EvolvingTable {
  const table = new EvolvingTable({ directory, evolve: everything, ...settings });
  opened.push(table);
  return table;
}

type AvroField = readonly [name: string, type: unknown];

/** Registers an Avro record under an id, and gives what writes payloads by it. */
function avro(table: EvolvingTable, id: number, ...fields: readonly AvroField[]): (value: unknown) => Uint8Array {
  const schema = { type: 'record', name: `r${id}`, fields: fields.map(([name, type]) => ({ name, type })) };
  table.register(`ids/${id}`, { type: 'AVRO', text: JSON.stringify(schema), references: [] });
  const type = avsc.Type.forSchema(schema as avsc.Schema);
  return (value) => Buffer.concat([Buffer.from([0, 0, 0, 0, id]), type.toBuffer(value)]);
}

const decimal = (precision: number, scale: number): unknown => ({ type: 'bytes', logicalType: 'decimal', precision, scale });

describe.each(tableFormatNames)('a %s table that the schemas of its records may change', (format) => {
  const columns = ['{ name: id, type: long }', '{ name: n, type: integer }'];
  const route = ['value: { format: avro }'];

  it('takes a new version of a schema from the registry without a restart, and older ones after it', async () => {
    const table = open({ format, columns, route });
    const first = avro(table, 1, ['id', 'long'], ['n', 'int']);
    const point = {
      type: 'record',
      name: 'point',
      fields: [
        { name: 'x', type: 'double' },
        { name: 'tags', type: { type: 'array', items: 'string' } },
      ],
    };
    const second = avro(
      table,
      2,
      ['id', 'long'],
      ['n', 'long'],
      ['s', ['null', 'string']],
      ['at', { type: 'long', logicalType: 'timestamp-millis' }],
      ['p', point],
    );
    await table.commit(first({ id: 1, n: 1 }));
    await table.commit(
      first({ id: 2, n: 2 }),
      second({ id: 3, n: 5_000_000_000, s: 'x', at: 1000, p: { x: 1.5, tags: ['a'] } }),
      first({ id: 4, n: 4 }),
    );
    await table.commit(first({ id: 5, n: 5 }));
    expect(await table.columns()).toBe('id:long, n:long, s:string, at:timestamp, p:struct<x:double, tags:array<string>>');
    expect(await table.rows()).toEqual([
      '{"id":1,"n":1}',
      '{"id":2,"n":2}',
      '{"id":3,"n":5000000000,"s":"x","at":"1970-01-01T00:00:01.000Z","p":{"x":1.5,"tags":["a"]}}',
      '{"id":4,"n":4}',
      '{"id":5,"n":5}',
    ]);
    expect(table.rejects).toEqual([]);
  });

  it('refuses values of a schema that changed a type to another family, and changes nothing for them', async () => {
    const table = open({ format, columns, route });
    const first = avro(table, 1, ['id', 'long'], ['n', 'int']);
    const second = avro(table, 2, ['id', 'long'], ['n', 'string']);
    const third = avro(table, 3, ['id', 'long'], ['n', 'double']);
    await table.commit(first({ id: 1, n: 1 }), second({ id: 2, n: 'x' }), third({ id: 3, n: 2.5 }), third({ id: 4, n: 4 }));
    expect(await table.columns()).toBe('id:long, n:integer');
    expect(await table.rows()).toEqual(['{"id":1,"n":1}']);
    expect(table.rejects.map(({ offset }) => offset)).toEqual([1n, 2n, 3n]);
  });

  it('makes a required column nullable where a schema has it no more', async () => {
    const table = open({ format, columns: ['{ name: id, type: long }', '{ name: n, type: integer, nullable: false }'], route });
    const first = avro(table, 1, ['id', 'long'], ['n', 'int']);
    const second = avro(table, 2, ['id', 'long']);
    await table.commit(first({ id: 1, n: 1 }), second({ id: 2 }));
    expect(await table.columns()).toBe('id:long, n:integer');
    expect(await table.rows()).toEqual(['{"id":1,"n":1}', '{"id":2}']);
  });

  it('widens decimals as far as the format reads its old files by them, and says of others what was wanted', async () => {
    const table = open({ format, columns: ['{ name: id, type: long }', '{ name: d, type: "decimal(4,2)" }'], route });
    const unscaled = (value: number): Buffer => Buffer.from([value >> 16, (value >> 8) & 255, value & 255]);
    const first = avro(table, 1, ['id', 'long'], ['d', decimal(4, 2)]);
    const second = avro(table, 2, ['id', 'long'], ['d', decimal(6, 2)]);
    const third = avro(table, 3, ['id', 'long'], ['d', decimal(6, 3)]);
    await table.commit(first({ id: 1, d: unscaled(1234) }), second({ id: 2, d: unscaled(123456) }));
    await table.commit(third({ id: 3, d: unscaled(1230) }), third({ id: 4, d: unscaled(1234) }));
    await table.commit(third({ id: 5, d: unscaled(1240) }));
    // Iceberg keeps the scale: what has no third digit fits all the same.
    const takesScale = format === 'delta';
    expect(await table.columns()).toBe(takesScale ? 'id:long, d:decimal(7, 3)' : 'id:long, d:decimal(6, 2)');
    expect(await table.rows('CAST(d AS STRING)')).toEqual(
      takesScale ? ['12.340', '1234.560', '1.230', '1.234', '1.240'] : ['12.34', '1234.56', '1.23', '1.24'],
    );
    expect(table.rejects.map(({ offset }) => offset)).toEqual(takesScale ? [] : [3n]);
    expect(table.refusals.length).toBe(takesScale ? 0 : 1);
  });

  it('takes new fields of change events, and leaves the columns of the event to it', async () => {
    const route = ['value: { format: connect-json, envelope: debezium }'];
    const table = open({ format, columns: [...columns, '{ name: __op, type: string }'], route });
    const row = (...fields: readonly string[]): string => `{"type":"struct","optional":true,"fields":[${fields.join(',')}]`;
    const plain = ['{"type":"int64","field":"id"}', '{"type":"int32","field":"n"}'];
    const more =
      '{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"},"optional":true,"field":"price"}';
    const event = (fields: readonly string[], before: string, after: string, op: string): string =>
      `{"schema":{"type":"struct","fields":[${row(...fields)},"field":"before"},${row(...fields)},"field":"after"},{"type":"string","field":"op"}]},` +
      `"payload":{"before":${before},"after":${after},"op":"${op}"}}`;
    await table.commit(event(plain, 'null', '{"id":1,"n":1}', 'c'));
    await table.commit(
      event([...plain, more], 'null', '{"id":2,"n":2,"price":"AN4="}', 'c'),
      event([...plain, more], '{"id":3,"n":3,"price":"AN8="}', 'null', 'd'),
    );
    expect(await table.columns()).toBe('id:long, n:integer, __op:string, price:decimal(38, 2)');
    expect(await table.rows()).toEqual([
      '{"id":1,"n":1,"__op":"c"}',
      '{"id":2,"n":2,"__op":"c","price":2.22}',
      '{"id":3,"n":3,"__op":"d","price":2.23}',
    ]);
  });

  it('looks at the rows of change events in JSON without a schema', async () => {
    const table = open({ format, columns: [...columns, '{ name: __op, type: string }'], route: ['value: { envelope: debezium }'] });
    await table.commit(
      '{"before":null,"after":{"id":1,"n":1},"op":"c","source":{"more":1}}',
      '{"before":null,"after":{"id":2,"n":5000000000,"city":"a","__x":1},"op":"c"}',
      '{"before":{"id":3,"city":"b"},"after":null,"op":"d"}',
    );
    expect(await table.columns()).toBe('id:long, n:long, __op:string, city:string');
    expect(await table.rows()).toEqual([
      '{"id":1,"n":1,"__op":"c"}',
      '{"id":2,"n":5000000000,"__op":"c","city":"a"}',
      '{"id":3,"__op":"d","city":"b"}',
    ]);
    expect(table.refusals).toEqual(['member "__x": names with two underscores are of the event']);
  });

  it('takes new fields of Protobuf messages, nested ones too', async () => {
    const table = open({ format, columns: [...columns, '{ name: p, type: "struct<x:integer>" }'], route: ['value: { format: protobuf }'] });
    const proto = (id: number, text: string): void => {
      table.register(`ids/${id}`, { type: 'PROTOBUF', text: `syntax = "proto3"; ${text}`, references: [] });
    };
    proto(1, 'message E { int64 id = 1; int32 n = 2; P p = 3; } message P { int32 x = 1; }');
    proto(2, 'message E { int64 id = 1; int64 n = 2; P p = 3; repeated string tags = 4; } message P { int32 x = 1; bool y = 2; }');
    const payload = (id: number, ...bytes: readonly number[]): Uint8Array => Uint8Array.from([0, 0, 0, 0, id, 0, ...bytes]);
    await table.commit(payload(1, 0x08, 1, 0x10, 1, 0x1a, 2, 0x08, 9));
    await table.commit(payload(2, 0x08, 2, 0x10, 2, 0x1a, 4, 0x08, 9, 0x10, 1, 0x22, 1, 0x61, 0x22, 1, 0x62));
    expect(await table.columns()).toBe('id:long, n:long, p:struct<x:integer, y:boolean>, tags:array<string>');
    expect(await table.rows('to_json(struct(id, n, p, tags))')).toEqual([
      '{"id":1,"n":1,"p":{"x":9}}',
      '{"id":2,"n":2,"p":{"x":9,"y":true},"tags":["a","b"]}',
    ]);
  });
});

describe('a Delta table without type widening', () => {
  it('keeps its types, says so once, and takes the values that fit', async () => {
    const table = open({
      format: 'delta',
      columns: ['{ name: id, type: long }', '{ name: n, type: integer }'],
      table: ["properties: { delta.enableTypeWidening: 'false' }"],
      route: ['value: { format: avro }'],
    });
    const wide = avro(table, 1, ['id', 'long'], ['n', 'long'], ['a', 'long']);
    await table.commit(wide({ id: 1, n: 1, a: 1 }), wide({ id: 2, n: 5_000_000_000, a: 1 }));
    await table.commit(wide({ id: 3, n: 3, a: 1 }));
    expect(await table.rows()).toEqual(['{"id":1,"n":1,"a":1}', '{"id":3,"n":3,"a":1}']);
    expect(table.rejects.map(({ message }) => message)).toEqual(['column "n": 5000000000 does not fit an integer']);
    expect(table.refusals).toHaveLength(1);
    expect(table.refusals[0]).toContain('column "n" becomes long: ');
  });
});
