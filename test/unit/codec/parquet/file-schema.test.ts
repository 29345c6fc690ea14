import { describe, expect, it } from 'vitest';
import { type FileColumn, readFileSchema } from '../../../../src/codec/parquet/file-schema.ts';
import { footerLength } from '../../../../src/codec/parquet/footer.ts';
import { printThriftStruct, type ThriftField, type ThriftStruct, thriftType } from '../../../../src/codec/parquet/thrift-compact.ts';

interface MadeElement {
  readonly name: string;
  readonly id?: number;
  readonly repetition?: 0 | 1 | 2;
  readonly children?: number;
  readonly converted?: number;
  readonly logical?: number;
}

function element({ name, id, repetition = 1, children, converted, logical }: MadeElement): ThriftStruct {
  const fields: ThriftField[] = [
    ...(children === undefined ? [{ id: 1, type: thriftType.i32, value: 1n }] : []),
    { id: 3, type: thriftType.i32, value: BigInt(repetition) },
    { id: 4, type: thriftType.binary, value: Buffer.from(name) },
    ...(children === undefined ? [] : [{ id: 5, type: thriftType.i32, value: BigInt(children) }]),
    ...(converted === undefined ? [] : [{ id: 6, type: thriftType.i32, value: BigInt(converted) }]),
    ...(id === undefined ? [] : [{ id: 9, type: thriftType.i32, value: BigInt(id) }]),
    ...(logical === undefined
      ? []
      : [
          {
            id: 10,
            type: thriftType.struct,
            value: { kind: 'struct', fields: [{ id: logical, type: thriftType.struct, value: { kind: 'struct', fields: [] } }] },
          } as const,
        ]),
  ];
  return { kind: 'struct', fields };
}

function footer(...elements: readonly MadeElement[]): Uint8Array {
  return printThriftStruct({
    kind: 'struct',
    fields: [
      { id: 1, type: thriftType.i32, value: 2n },
      { id: 2, type: thriftType.list, value: { kind: 'list', elementType: thriftType.struct, items: elements.map(element) } },
      // What follows is not looked at, whatever it is.
      { id: 3, type: thriftType.i64, value: 7n },
    ],
  });
}

function textOf(column: FileColumn): string {
  const id = column.id === undefined ? '' : `#${column.id}`;
  switch (column.kind) {
    case 'leaf':
      return `${column.name}${id}`;
    case 'struct':
      return `${column.name}${id}{${column.members.map(textOf).join()}}`;
    case 'list':
      return `${column.name}${id}[${textOf(column.element)}]`;
    case 'map':
      return `${column.name}${id}<${textOf(column.key)},${textOf(column.value)}>`;
  }
}

describe('the columns of a Parquet file', () => {
  it('have their ids, those inside of structs, lists and maps too', () => {
    const schema = readFileSchema(
      footer(
        { name: 'table', children: 4 },
        { name: 'a', id: 1 },
        { name: 's', id: 2, children: 1 },
        { name: 'x', id: 3 },
        { name: 'l', id: 4, children: 1, converted: 3 },
        { name: 'list', repetition: 2, children: 1 },
        { name: 'element', id: 5, children: 1 },
        { name: 'y', id: 6 },
        { name: 'm', id: 7, children: 1, logical: 2 },
        { name: 'key_value', repetition: 2, children: 2 },
        { name: 'key', id: 8 },
        { name: 'value', id: 9 },
      ),
    );
    expect(schema.columns.map(textOf)).toEqual(['a#1', 's#2{x#3}', 'l#4[element#5{y#6}]', 'm#7<key#8,value#9>']);
    expect(schema.hasIds).toBe(true);
  });

  it('are lists in every way old writers spell them', () => {
    const twoLevel = [
      { name: 'l', children: 1, converted: 3 },
      { name: 'array', repetition: 2 },
    ] as const;
    const tuple = [{ name: 'l', children: 1, logical: 3 }, { name: 'l_tuple', repetition: 2, children: 1 }, { name: 'x' }] as const;
    const bare = [{ name: 'l', repetition: 2 }] as const;
    const columns = [twoLevel, tuple, bare].map((elements) =>
      readFileSchema(footer({ name: 'root', children: 1 }, ...elements)).columns.map(textOf),
    );
    expect(columns).toEqual([['l[array]'], ['l[l_tuple{x}]'], ['l[l]']]);
  });

  it('give equal signatures for equal columns alone', () => {
    const signature = (...names: readonly string[]): string =>
      readFileSchema(footer({ name: 'root', children: names.length }, ...names.map((name) => ({ name })))).signature;
    expect(signature('a', 'b')).toBe(signature('a', 'b'));
    expect(signature('a\n1:b')).not.toBe(signature('a', 'b'));
    expect(readFileSchema(footer({ name: 'root', children: 1 }, { name: 'a' })).hasIds).toBe(false);
  });

  it('are refused when the tree of the schema does not end, or bytes are missing', () => {
    expect(() => readFileSchema(footer({ name: 'root', children: 2 }, { name: 'a' }))).toThrow('does not end');
    const bytes = footer({ name: 'root', children: 1 }, { name: 'a' });
    for (let length = 0; length < bytes.length - 4; length++) {
      expect(() => readFileSchema(bytes.subarray(0, length))).toThrow(expect.objectContaining({ code: 'PARQUET_CORRUPT' }) as Error);
    }
  });

  it('begin where the end of the file says', () => {
    const end = Buffer.concat([Buffer.from([9, 9, 5, 0, 0, 0]), Buffer.from('PAR1')]);
    expect(footerLength(end)).toBe(5);
    expect(footerLength(end.subarray(0, 9))).toBeUndefined();
    expect(footerLength(Uint8Array.of(1))).toBeUndefined();
  });
});
