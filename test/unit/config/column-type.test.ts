import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseColumnType, printColumnType } from '../../../src/config/column-type.ts';
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
    ['', 'at character 1: a type is expected'],
    ['lng', 'at character 1: "lng" is no type'],
    ['decimal(39,2)', 'at character 9: a precision from 1 to 38 is expected'],
    ['decimal(4,5)', 'at character 9: the scale 5 exceeds the precision 4'],
    ['array<long', 'at character 11: ">" is expected'],
    ['map<string>', 'at character 11: "," is expected'],
    ['struct<>', 'at character 8: a field name is expected'],
    ['struct<a:long,A:long>', 'at character 15: a second field "A"'],
    ['long long', 'at character 6: nothing more is expected'],
    [`${'array<'.repeat(40)}long`, 'is nested deeper than 32'],
  ])('%j is refused at the character that does not fit', (text, problem) => {
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
