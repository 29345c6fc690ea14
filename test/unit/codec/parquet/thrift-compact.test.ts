import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildBatch } from '../../../../src/codec/build-columns.ts';
import {
  parseThriftStruct,
  printThriftFields,
  printThriftStruct,
  type ThriftField,
  type ThriftList,
  type ThriftStruct,
  thriftField,
  thriftType,
} from '../../../../src/codec/parquet/thrift-compact.ts';
import { writeParquet } from '../../../../src/codec/parquet/write-parquet.ts';

const i64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const bytes = fc.uint8Array({ maxLength: 300 });

const { struct } = fc.letrec<{ struct: ThriftStruct; field: ThriftField; list: ThriftList }>((tie) => ({
  list: fc.oneof(
    { maxDepth: 3 },
    fc.array(i64, { maxLength: 20 }).map((items): ThriftList => ({ kind: 'list', elementType: thriftType.i64, items })),
    fc.array(bytes, { maxLength: 3 }).map((items): ThriftList => ({ kind: 'list', elementType: thriftType.binary, items })),
    fc.array(tie('struct'), { maxLength: 3 }).map((items): ThriftList => ({ kind: 'list', elementType: thriftType.struct, items })),
  ),
  field: fc
    .tuple(
      fc.integer({ min: 1, max: 40 }),
      fc.oneof(
        { maxDepth: 3 },
        fc.boolean().map((value) => ({ type: value ? thriftType.true : thriftType.false, value })),
        i64.map((value) => ({ type: thriftType.i64, value })),
        bytes.map((value) => ({ type: thriftType.binary, value })),
        fc.uint8Array({ minLength: 8, maxLength: 8 }).map((value) => ({ type: thriftType.double, value })),
        tie('list').map((value) => ({ type: thriftType.list, value })),
        tie('struct').map((value) => ({ type: thriftType.struct, value })),
      ),
    )
    .map(([id, value]): ThriftField => ({ id, ...value })),
  struct: fc
    .array(tie('field'), { maxLength: 6 })
    .map((fields): ThriftStruct => ({ kind: 'struct', fields: fields.toSorted((a, b) => a.id - b.id).filter(distinct) })),
}));

function distinct(field: ThriftField, index: number, all: readonly ThriftField[]): boolean {
  return all[index - 1]?.id !== field.id;
}

describe('Thrift in compact protocol', () => {
  it('reads what it printed, whatever the fields', () => {
    fc.assert(
      fc.property(struct, (tree) => {
        expect(parseThriftStruct(printThriftStruct(tree))).toEqual(tree);
      }),
    );
  });

  it('prints the footer of a file as its writer did', async () => {
    const schema = { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: true }] } as const;
    const file = await writeParquet([buildBatch(schema, [{ id: 1n }, { id: undefined }])], { compression: 'zstd' });
    const length = Buffer.from(file).readUInt32LE(file.length - 8);
    const footer = file.subarray(file.length - 8 - length, file.length - 8);
    const tree = parseThriftStruct(footer);
    expect(thriftField(tree, 3)).toBe(2n);
    expect(Buffer.from(printThriftStruct(tree)).equals(footer)).toBe(true);
  });

  it('prints fields in pieces as it prints them at once', () => {
    fc.assert(
      fc.property(struct, fc.nat(6), (tree, at) => {
        const [before, after] = [tree.fields.slice(0, at), tree.fields.slice(at)];
        const pieces = [printThriftFields(before, 0), printThriftFields(after, before.at(-1)?.id ?? 0), Uint8Array.of(0)];
        expect(Buffer.concat(pieces).equals(printThriftStruct(tree))).toBe(true);
      }),
    );
  });

  it('refuses bytes it cannot follow, and never loops or throws otherwise', () => {
    const corrupt: unknown = expect.objectContaining({ code: 'PARQUET_CORRUPT', kind: 'corrupt' });
    expect(() => parseThriftStruct(Uint8Array.of(0x16))).toThrow(corrupt);
    expect(() => parseThriftStruct(Uint8Array.of(0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f))).toThrow(corrupt);
    expect(() => parseThriftStruct(new Uint8Array(100).fill(0x1c))).toThrow(corrupt);
    expect(() => parseThriftStruct(Uint8Array.of(0x1b, 0))).toThrow(corrupt);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        try {
          parseThriftStruct(noise);
        } catch (error) {
          expect(error).toMatchObject({ code: 'PARQUET_CORRUPT' });
        }
      }),
    );
  });
});
