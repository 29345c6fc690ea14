import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseColumnType, printColumnType } from '../../../src/expr/parse/column-type.ts';
import type { DataType } from '../../../src/schema/types.ts';

describe('column types', () => {
  it.each<[string, DataType]>([
    ['long', { kind: 'long' }],
    [' BIGINT ', { kind: 'long' }],
    ['decimal(12, 2)', { kind: 'decimal', precision: 12, scale: 2 }],
    ['decimal', { kind: 'decimal', precision: 10, scale: 0 }],
    ['array<string not null>', { kind: 'list', element: { kind: 'string' }, elementNullable: false }],
    ['map<string,long>', { kind: 'map', key: { kind: 'string' }, value: { kind: 'long' }, valueNullable: true }],
    [
      'struct<a:long not null, `b c` array<int>, Not:int>',
      {
        kind: 'struct',
        fields: [
          { name: 'a', type: { kind: 'long' }, nullable: false },
          { name: 'b c', type: { kind: 'list', element: { kind: 'integer' }, elementNullable: true }, nullable: true },
          { name: 'Not', type: { kind: 'integer' }, nullable: true },
        ],
      },
    ],
  ])('%s', (text, type) => {
    expect(parseColumnType(text)).toEqual(type);
  });

  it.each([
    ['', 'column 1): expected a type'],
    ['lng', 'Unsupported data type "LNG" (line 1, column 1)'],
    ['decimal(39,2)', 'exceeds max precision 38'],
    ['decimal(4,5)', 'column 12): expected a scale of at most 4'],
    ['array<long', "column 11): expected '>'"],
    ['map<string>', "column 11): expected ','"],
    ['struct<>', 'a struct has at least one field'],
    ['struct<a:long,A:long>', 'there is a second field "A"'],
    ['long long', 'column 6): expected the end'],
    ['variant', '"variant" is no type of a record'],
    ['varchar(10)', 'the length of text is not kept'],
    ["struct<a:int comment 'x'>", '"a" has a comment'],
    ['char', 'requires a length parameter'],
    [`${'array<'.repeat(40)}long${'>'.repeat(40)}`, 'is nested deeper than 32'],
  ])('%j is refused with what does not fit', (text, problem) => {
    expect(() => parseColumnType(text)).toThrow(problem);
  });

  it('every type prints as text that reads back as the same type', () => {
    const { type } = fc.letrec<{ type: DataType; field: { name: string; type: DataType; nullable: boolean } }>((tie) => ({
      field: fc.record({
        name: fc.string({ minLength: 1, maxLength: 6 }).filter((name) => !/^\\s*$/.test(name)),
        type: tie('type'),
        nullable: fc.boolean(),
      }),
      type: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<DataType>({ kind: 'long' }, { kind: 'string' }, { kind: 'timestamp_ntz' }, { kind: 'binary' }),
        fc
          .integer({ min: 1, max: 38 })
          .chain((precision) => fc.integer({ min: 0, max: precision }).map((scale): DataType => ({ kind: 'decimal', precision, scale }))),
        fc.record({ kind: fc.constant('list' as const), element: tie('type'), elementNullable: fc.boolean() }),
        fc.record({ kind: fc.constant('map' as const), key: tie('type'), value: tie('type'), valueNullable: fc.boolean() }),
        fc.record({
          kind: fc.constant('struct' as const),
          fields: fc.uniqueArray(tie('field'), { minLength: 1, maxLength: 4, selector: ({ name }) => name.toLowerCase() }),
        }),
      ),
    }));
    fc.assert(
      fc.property(type, (original) => {
        expect(parseColumnType(printColumnType(original))).toEqual(original);
      }),
    );
  });
});
