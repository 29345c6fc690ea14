import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MessageWriter } from '../../../../src/codec/orc/proto/message-writer.ts';
import { readOrcFile, readOrcRows } from '../../../../src/codec/orc/read/read-orc.ts';
import { rowsOf } from '../../../../src/codec/rows.ts';
import type { DataType, StructType } from '../../../../src/schema/types.ts';

interface Crafted {
  /** Kind number, subtypes and names of each type; the root is the first. */
  readonly types: readonly (readonly [kind: number, subtypes?: readonly number[], names?: readonly string[]])[];
  readonly rows?: number | undefined;
  /** Kind, column and bytes. */
  readonly streams?: readonly (readonly [kind: number, column: number, bytes: readonly number[]])[] | undefined;
  /** Encoding and dictionary size by column. */
  readonly encodings?: readonly (readonly [kind: number, dictionarySize?: number])[] | undefined;
  readonly timeZone?: string | undefined;
  readonly compression?: number | undefined;
  readonly footer?: ((footer: MessageWriter) => void) | undefined;
  readonly stripe?: { readonly offset?: number; readonly dataBytes?: number } | undefined;
}

const pack = (bytes: Uint8Array): Uint8Array => {
  const packed = deflateRawSync(bytes);
  return Buffer.concat([Buffer.from([(packed.length << 1) & 0xff, packed.length >> 7, packed.length >> 15]), packed]);
};

function craft(file: Crafted): Uint8Array {
  const wrap = file.compression === 1 ? pack : (bytes: Uint8Array): Uint8Array => bytes;
  const streams = file.streams ?? [];
  const stripeFooter = new MessageWriter();
  for (const [kind, column, bytes] of streams)
    stripeFooter.message(1, new MessageWriter().integer(1, kind).integer(2, column).integer(3, bytes.length));
  for (const index of file.types.keys()) {
    const [kind = 0, size] = file.encodings?.[index] ?? [];
    stripeFooter.message(2, new MessageWriter().integer(1, kind).integer(2, size));
  }
  stripeFooter.text(3, file.timeZone);
  const data = Buffer.from(streams.flatMap(([, , bytes]) => [...bytes]));
  const tail = wrap(stripeFooter.finish());
  const rows = file.rows ?? 1;
  const stripe = new MessageWriter()
    .integer(1, file.stripe?.offset ?? 3)
    .integer(2, 0)
    .integer(3, file.stripe?.dataBytes ?? data.length)
    .integer(4, tail.length)
    .integer(5, rows);
  const footer = new MessageWriter().message(3, stripe);
  for (const [kind, subtypes = [], names = []] of file.types) {
    const type = new MessageWriter().integer(1, kind).integers(2, subtypes);
    for (const name of names) type.text(3, name);
    footer.message(4, type);
  }
  footer.integer(6, rows);
  file.footer?.(footer);
  const packedFooter = wrap(footer.finish());
  const postScript = new MessageWriter()
    .integer(1, packedFooter.length)
    .integer(2, file.compression ?? 0)
    .integer(3, 1024)
    .text(8000, 'ORC')
    .finish();
  return Buffer.concat([Buffer.from('ORC'), data, tail, packedFooter, postScript, Buffer.from([postScript.length])]);
}

function readAs(bytes: Uint8Array, type: DataType): unknown[] {
  const schema: StructType = { kind: 'struct', fields: [{ name: 'c', type, nullable: true }] };
  return [...rowsOf(readOrcRows(readOrcFile(bytes, { name: 'f' }), { schema }))].map(({ c }) => c);
}

const long: Crafted['types'] = [[12, [1], ['c']], [4]];
const list: Crafted['types'] = [[12, [1], ['c']], [10, [2]], [4]];
const listType: DataType = { kind: 'list', element: { kind: 'long' }, elementNullable: true };
const corrupt = (message: string): unknown =>
  expect.objectContaining({ code: 'ORC_FILE_CORRUPT', kind: 'corrupt', message: expect.stringContaining(message) as unknown });
const unsupported = (message: string): unknown =>
  expect.objectContaining({ code: 'ORC_FEATURE_UNSUPPORTED', kind: 'unsupported', message: expect.stringContaining(message) as unknown });

describe('a crafted ORC file', () => {
  it('with a sane stripe is read', () => {
    expect(readAs(craft({ types: long, rows: 3, streams: [[1, 1, [0x00, 0x00, 0x0e]]] }), { kind: 'long' })).toEqual([7n, 7n, 7n]);
  });

  it('that tells more rows than it has ends with an error, not with memory', () => {
    const bytes = craft({ types: long, rows: 2 ** 31 - 1, streams: [[1, 1, [0x7f, 0x00, 0x0e]]] });
    expect(() => readAs(bytes, { kind: 'long' })).toThrow(corrupt('stripe 0, column 1 "c", data: byte 3'));
    expect(() => readAs(craft({ types: long, rows: 2 ** 40 }), { kind: 'long' })).toThrow(corrupt('stripe 0 has 1099511627776 rows'));
  });

  it('whose lists tell more elements than there are is refused before memory is taken', () => {
    // 130 lists of 2^19 elements each, in four bytes of lengths.
    const lengths = [0x7f, 0x00, 0x80, 0x80, 0x20];
    const bytes = craft({
      types: list,
      rows: 130,
      streams: [
        [2, 1, lengths],
        [1, 2, [0x00, 0x00, 0x00]],
      ],
    });
    expect(() => readAs(bytes, listType)).toThrow(corrupt('68157440 elements are told and the file has not so many'));
    const more = craft({ types: list, rows: 130, streams: [[2, 1, [0x7f, 0x00, 0x80, 0x80, 0x80, 0x02]]] });
    expect(() => readAs(more, listType)).toThrow(unsupported('pass the limit'));
  });

  it('whose elements hold nothing but members that it lacks is refused before memory is taken for these', () => {
    // 130 lists of 983,040 structs each, of which no member is stored, in five bytes.
    const types: Crafted['types'] = [[12, [1], ['c']], [10, [2]], [12, [3], ['q']], [4]];
    const bytes = craft({ types, rows: 130, streams: [[2, 1, [0x7f, 0x00, 0x80, 0x80, 0x3c]]] });
    const fields = Array.from({ length: 20 }, (_, index) => ({ name: `m${index}`, type: { kind: 'long' }, nullable: true }) as const);
    expect(() => readAs(bytes, { kind: 'list', element: { kind: 'struct', fields }, elementNullable: true })).toThrow(
      expect.objectContaining({ code: 'COLUMN_TOO_LARGE', kind: 'unsupported' }),
    );
  });

  it('with negative or huge lengths is refused', () => {
    const text: Crafted['types'] = [[12, [1], ['c']], [7]];
    const lengths = [0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    expect(() => readAs(craft({ types: text, streams: [[2, 1, lengths]] }), { kind: 'string' })).toThrow(corrupt('a length is negative'));
  });

  it('with a dictionary that it has not is refused', () => {
    const text: Crafted['types'] = [[12, [1], ['c']], [7]];
    const encodings: Crafted['encodings'] = [[0], [1, 2 ** 31]];
    expect(() => readAs(craft({ types: text, encodings }), { kind: 'string' })).toThrow(corrupt('a dictionary of 2147483648 values'));
    const one = craft({
      types: text,
      encodings: [[0], [1, 1]],
      streams: [
        [1, 1, [0xff, 0x01]],
        [3, 1, [0x61]],
        [2, 1, [0xff, 0x01]],
      ],
    });
    expect(() => readAs(one, { kind: 'string' })).toThrow(corrupt('a value is outside of the dictionary of 1 values'));
  });

  it('with text that is no UTF-8 is refused', () => {
    const text: Crafted['types'] = [[12, [1], ['c']], [7]];
    const of = (bytes: readonly number[], lengths: readonly number[], rows: number): Uint8Array =>
      craft({
        types: text,
        rows,
        streams: [
          [1, 1, bytes],
          [2, 1, lengths],
        ],
      });
    expect(() => readAs(of([0xff, 0xfe], [0xff, 0x02], 1), { kind: 'string' })).toThrow(corrupt('a string is not UTF-8'));
    expect(() => readAs(of([0xc3, 0xbc], [0xfe, 0x01, 0x01], 2), { kind: 'string' })).toThrow(
      corrupt('a string begins within a character'),
    );
    expect(readAs(of([0xc3, 0xbc], [0xff, 0x02], 1), { kind: 'string' })).toEqual(['ü']);
  });

  it('whose types are no tree is refused', () => {
    expect(() => readAs(craft({ types: [[12, [0], ['c']]] }), { kind: 'long' })).toThrow(corrupt('type 0 contains type 0'));
    expect(() => readAs(craft({ types: [[12, [1, 1], ['c', 'd']], [4]] }), { kind: 'long' })).toThrow(
      corrupt('type 1 is missing or used twice'),
    );
    expect(() => readAs(craft({ types: [[12, [9], ['c']]] }), { kind: 'long' })).toThrow(corrupt('type 9 is missing'));
    expect(() => readAs(craft({ types: [[10, [1]], [4]] }), { kind: 'long' })).toThrow(corrupt('the root is a list'));
    const deep = Array.from({ length: 200 }, (_, index): Crafted['types'][number] =>
      index === 0 ? [12, [1], ['c']] : [10, index < 199 ? [index + 1] : []],
    );
    expect(() => readAs(craft({ types: deep }), { kind: 'long' })).toThrow(corrupt('nested deeper than 100'));
  });

  it('whose stripes lie outside of it is refused', () => {
    expect(() => readAs(craft({ types: long, stripe: { offset: 2 ** 40 } }), { kind: 'long' })).toThrow(
      corrupt('stripe 0 at [1099511627776'),
    );
    expect(() => readAs(craft({ types: long, stripe: { dataBytes: 2 ** 50 } }), { kind: 'long' })).toThrow(corrupt('is outside of'));
  });

  it('with chunks that unpack to more than they may is refused', () => {
    const bomb = pack(new Uint8Array(1_000_000));
    const bytes = craft({ types: long, compression: 1, streams: [[1, 1, [...bomb]]] });
    expect(() => readAs(bytes, { kind: 'long' })).toThrow(corrupt('more than the 1024 bytes allowed'));
  });

  it('with features that are left out is refused by their names', () => {
    expect(() => readAs(craft({ types: long, compression: 3 }), { kind: 'long' })).toThrow(unsupported('compression lzo is not supported'));
    expect(() => readAs(craft({ types: [[12, [1], ['c']], [77]] }), { kind: 'long' })).toThrow(unsupported('type number 77'));
    const encrypted = craft({ types: long, footer: (footer) => footer.bytes(10, new Uint8Array(0)) });
    expect(() => readAs(encrypted, { kind: 'long' })).toThrow(unsupported('encrypted columns'));
    const zoned = craft({ types: [[12, [1], ['c']], [9]], timeZone: 'Mars/Olympus' });
    expect(() => readAs(zoned, { kind: 'timestamp_ntz' })).toThrow(unsupported('time zone "Mars/Olympus" is unknown'));
  });

  it('with a union is read beside it, and the union is refused by name', () => {
    const types: Crafted['types'] = [[12, [1, 4], ['u', 'c']], [13, [2, 3]], [4], [7], [4]];
    const bytes = craft({ types, streams: [[1, 4, [0xff, 0x0e]]] });
    expect(readAs(bytes, { kind: 'long' })).toEqual([7n]);
    const schema: StructType = { kind: 'struct', fields: [{ name: 'u', type: { kind: 'long' }, nullable: true }] };
    expect(() => [...readOrcRows(readOrcFile(bytes, { name: 'f' }), { schema })]).toThrow(
      unsupported('column 1 "u": type union is not supported'),
    );
  });
});
