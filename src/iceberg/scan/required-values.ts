import type { Expression, Literal } from '../../expr/expression.ts';
import { castLiteral, foldBeside } from '../../expr/pruning/fold-literal.ts';
import type { DataType } from '../../schema/types.ts';
import type { PartitionValue } from '../metadata/content-file.ts';

/** Values beyond so many are not looked at one by one. */
const maxValues = 1_000;

/**
 * The only values of a column that rows of the condition can have, when it names them: by `=`, `<=>` and IN, joined by AND and OR. For
 * partitions whose values say nothing of an order (buckets).
 */
export function requiredValues(condition: Expression, path: readonly string[]): readonly PartitionValue[] | undefined {
  switch (condition.kind) {
    case 'binary':
      return requiredByOperator(condition, path);
    case 'in': {
      if (condition.negated || !isColumn(condition.operand, path) || condition.options.length > maxValues) return undefined;
      const type = condition.operand.type;
      return type === undefined
        ? undefined
        : allKnown(condition.options.map((option) => valueOf(foldBeside(type, option, condition.zone), type)));
    }
    default:
      return undefined;
  }
}

type Binary = Extract<Expression, { readonly kind: 'binary' }>;
type ColumnNode = Extract<Expression, { readonly kind: 'column' }>;

function requiredByOperator({ operator, left, right, zone }: Binary, path: readonly string[]): readonly PartitionValue[] | undefined {
  switch (operator) {
    case 'and':
      return requiredValues(left, path) ?? requiredValues(right, path);
    case 'or': {
      const [one, other] = [requiredValues(left, path), requiredValues(right, path)];
      return one === undefined || other === undefined || one.length + other.length > maxValues ? undefined : [...one, ...other];
    }
    case '=':
    case '<=>': {
      const [column, literal] = isColumn(left, path) ? [left, right] : isColumn(right, path) ? [right, left] : [undefined, undefined];
      if (column?.type === undefined || literal === undefined) return undefined;
      return allKnown([valueOf(foldBeside(column.type, literal, zone), column.type)]);
    }
    default:
      return undefined;
  }
}

function isColumn(node: Expression, path: readonly string[]): node is ColumnNode {
  return node.kind === 'column' && node.path.length === path.length && node.path.every((name, index) => name === path[index]);
}

/** The literal as a value of the column, when it is exactly one; null is none that `=` could match. */
function valueOf(literal: Literal | undefined, type: DataType): PartitionValue {
  if (literal === undefined || literal.type === 'null') return undefined;
  if (type.kind === 'decimal') return decimalOf(literal, type.scale);
  if (type.kind === 'string' && type.format === 'uuid') return undefined;
  const cast = castLiteral(literal, type);
  switch (cast?.type) {
    case 'integer':
      return type.kind === 'long' ? cast.value : Number(cast.value);
    case 'string':
      return cast.value;
    case 'date':
      // A date compared with a time is compared as a time.
      return literal.type === 'timestamp' || literal.type === 'timestamp_ntz' ? undefined : cast.days;
    case 'timestamp':
    case 'timestamp_ntz':
      return cast.micros;
    default:
      return undefined;
  }
}

function decimalOf(literal: Literal, scale: number): bigint | undefined {
  if (literal.type === 'integer') return literal.value * 10n ** BigInt(scale);
  if (literal.type !== 'decimal' || literal.scale > scale) return undefined;
  return literal.unscaled * 10n ** BigInt(scale - literal.scale);
}

function allKnown(values: readonly PartitionValue[]): readonly PartitionValue[] | undefined {
  return values.includes(undefined) ? undefined : values;
}
