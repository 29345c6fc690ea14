import fc from 'fast-check';
import type { InputRow, InputValue } from '../../../src/codec/build-columns.ts';
import type { BinaryOperator, Expression, Literal } from '../../../src/expr/expression.ts';
import { parseDecimal } from '../../../src/schema/decimal-text.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';
import type { RandomTable } from './random-tables.ts';
import { valueOf, wellFormed } from './random-values.ts';

interface Leaf {
  readonly path: readonly string[];
  readonly type: DataType;
  /** Values that some rows have: conditions on them are the ones that come close. */
  readonly present: readonly Exclude<InputValue, undefined>[];
}

const comparisons: readonly BinaryOperator[] = ['=', '<>', '<', '<=', '>', '>=', '<=>'];

/** Conditions over the columns of a table, nested members too, that compare with values its rows have and with others. */
export function randomFilter(table: RandomTable): fc.Arbitrary<Expression> {
  const leaves = leavesOf(table.schema, [], table.batches.flat());
  const condition =
    leaves.length === 0 ? fc.constant<Expression>(literal({ type: 'boolean', value: true })) : fc.constantFrom(...leaves).chain(simple);
  return fc.oneof(
    { weight: 3, arbitrary: condition },
    { weight: 1, arbitrary: condition.map((operand): Expression => ({ kind: 'unary', operator: 'not', operand })) },
    { weight: 2, arbitrary: joined(condition) },
    { weight: 1, arbitrary: joined(condition).map((operand): Expression => ({ kind: 'unary', operator: 'not', operand })) },
  );
}

function joined(condition: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc
    .tuple(fc.constantFrom<BinaryOperator>('and', 'or'), condition, condition)
    .map(([operator, left, right]): Expression => ({ kind: 'binary', operator, left, right }));
}

function simple(leaf: Leaf): fc.Arbitrary<Expression> {
  const column: Expression = { kind: 'column', path: leaf.path };
  const values = leaf.present.length === 0 ? valueOf(leaf.type) : fc.oneof(fc.constantFrom(...leaf.present), valueOf(leaf.type));
  const constant = values.map((value) => literal(literalOf(leaf.type, value)));
  const options = [
    fc
      .tuple(fc.constantFrom(...comparisons), constant)
      .map(([operator, right]): Expression => ({ kind: 'binary', operator, left: column, right })),
    fc
      .tuple(fc.constantFrom(...comparisons), constant)
      .map(([operator, left]): Expression => ({ kind: 'binary', operator, left, right: column })),
    fc.boolean().map((negated): Expression => ({ kind: 'is', operand: column, test: 'null', negated })),
    fc
      .tuple(
        fc.array(fc.oneof({ weight: 6, arbitrary: constant }, { weight: 1, arbitrary: fc.constant(literal({ type: 'null' })) }), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.boolean(),
      )
      .map(([members, negated]): Expression => ({ kind: 'in', operand: column, options: members, negated })),
    fc
      .tuple(constant, constant, fc.boolean())
      .map(([low, high, negated]): Expression => ({ kind: 'between', operand: column, low, high, negated })),
  ];
  if (leaf.type.kind === 'string') options.push(prefixed(column, values));
  return fc.oneof(...options);
}

/** `LIKE 'the beginning of a value%'`. */
function prefixed(column: Expression, values: fc.Arbitrary<InputValue>): fc.Arbitrary<Expression> {
  return fc.tuple(values, fc.nat(40), fc.boolean()).map(([value, length, negated]): Expression => {
    const beginning = wellFormed(textOf(value).slice(0, length)).replaceAll(/[\\%_]/g, '\\$&');
    return { kind: 'like', form: 'like', operand: column, pattern: literal({ type: 'string', value: `${beginning}%` }), negated };
  });
}

function literal(value: Literal): Expression {
  return { kind: 'literal', literal: value };
}

function literalOf(type: DataType, value: InputValue): Literal {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return { type: 'integer', value: BigInt(value as number | bigint), width: type.kind };
    case 'date':
      return { type: 'date', days: Number(value) };
    case 'timestamp':
    case 'timestamp_ntz':
      return { type: type.kind, micros: value as bigint };
    case 'float':
    case 'double':
      return { type: type.kind, value: Number(value) };
    case 'decimal':
      return {
        type: 'decimal',
        unscaled: parseDecimal(textOf(value), type.precision, type.scale) ?? 0n,
        precision: type.precision,
        scale: type.scale,
      };
    case 'string':
      return { type: 'string', value: wellFormed(textOf(value)) };
    case 'binary':
      return { type: 'binary', value: value as Uint8Array };
    case 'boolean':
      return { type: 'boolean', value: value === true };
    default:
      return { type: 'null' };
  }
}

/** Leaves that conditions can compare, reached through structs. */
function leavesOf(schema: StructType, above: readonly string[], rows: readonly (InputRow | undefined)[]): readonly Leaf[] {
  return schema.fields.flatMap((field): readonly Leaf[] => {
    const path = [...above, field.name];
    const values = rows.map((row) => (row === undefined || !Object.hasOwn(row, field.name) ? null : row[field.name]));
    if (field.type.kind === 'struct')
      return leavesOf(
        field.type,
        path,
        values.map((value) => (isRow(value) ? value : undefined)),
      );
    if (field.type.kind === 'list' || field.type.kind === 'map') return [];
    return [{ path, type: field.type, present: values.filter((value) => value !== null && value !== undefined) }];
  });
}

function isRow(value: InputValue): value is InputRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map) && !(value instanceof Uint8Array);
}

function textOf(value: InputValue): string {
  return typeof value === 'string' ? value : '';
}
