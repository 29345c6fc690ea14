import { buildColumn, type InputValue } from '../../codec/build-columns.ts';
import type { Literal } from '../../expr/expression.ts';
import type { Column } from '../../schema/columns.ts';
import { formatDecimal } from '../../schema/decimal-text.ts';
import type { DataType, Field } from '../../schema/types.ts';
import type { PartitionValue } from '../metadata/content-file.ts';
import { initialDefault } from './initial-default.ts';

/** A column that has one value in every row. */
export function constantColumn(type: DataType, value: InputValue, length: number): Column {
  return buildColumn(type, new Array<InputValue>(length).fill(value), 'constant');
}

/** A partition value as a value of a column. */
export function valueOfPartition(type: DataType, value: PartitionValue): InputValue {
  if (value === undefined) return undefined;
  if (type.kind === 'decimal') return typeof value === 'bigint' ? formatDecimal(value, type.scale) : undefined;
  return type.kind === 'long' && typeof value === 'number' ? BigInt(value) : value;
}

/** A literal as a value of a column. */
export function valueOfLiteral(type: DataType, literal: Literal | undefined): InputValue {
  switch (literal?.type) {
    case 'boolean':
    case 'double':
    case 'float':
    case 'binary':
      return literal.value;
    case 'string':
      return type.kind === 'string' ? literal.value : undefined;
    case 'integer':
      return type.kind === 'long' ? literal.value : Number(literal.value);
    case 'decimal':
      return formatDecimal(literal.unscaled, literal.scale);
    case 'date':
      return literal.days;
    case 'timestamp':
    case 'timestamp_ntz':
      return literal.micros;
    default:
      return undefined;
  }
}

/** The column with the defaults of its members that a file lacks, at every depth, in place of their nulls. */
export function withDefaults(column: Column, field: Field, absent: ReadonlySet<number>): Column {
  if (field.id !== undefined && absent.has(field.id)) {
    const literal = initialDefault(field);
    return literal === undefined ? column : constantColumn(field.type, valueOfLiteral(field.type, literal), column.length);
  }
  return insideDefaults(column, field.type, absent);
}

function insideDefaults(column: Column, type: DataType, absent: ReadonlySet<number>): Column {
  if (absent.size === 0) return column;
  if (column.layout === 'struct' && type.kind === 'struct') {
    const children = column.children.map((child, index) => {
      const field = type.fields[index];
      return field === undefined ? child : withDefaults(child, field, absent);
    });
    return { ...column, children };
  }
  if (column.layout === 'list' && type.kind === 'list') return { ...column, element: insideDefaults(column.element, type.element, absent) };
  if (column.layout === 'map' && type.kind === 'map') return { ...column, values: insideDefaults(column.values, type.value, absent) };
  return column;
}
