import type { Expression } from '../../expr/expression.ts';
import type { Field } from '../../schema/types.ts';
import { namedTransform, type PartitionFieldDefinition } from '../../table/partitioning/transform.ts';
import { invalidArgument } from '../session-errors.ts';
import type { PartitionItem } from '../statements/statement.ts';

/** What PARTITIONED BY says: fields of the partitioning, and columns that it declares itself. */
export interface Partitioning {
  readonly fields: readonly PartitionFieldDefinition[];
  readonly declared: readonly Field[];
}

/** @throws AnalysisException as `namedTransform`. */
export function partitioningOf(items: readonly PartitionItem[]): Partitioning {
  return {
    fields: items.map((item) => partitionField(item)),
    declared: items.flatMap((item) => (item.kind === 'typed-column' ? [item.field] : [])),
  };
}

/** @throws AnalysisException as `namedTransform`. */
export function partitionField(item: PartitionItem, name?: string): PartitionFieldDefinition {
  switch (item.kind) {
    case 'column':
      return { source: item.path, transform: { kind: 'identity' }, name };
    case 'typed-column':
      return { source: [item.field.name], transform: { kind: 'identity' }, name };
    case 'transform':
      return { source: item.path, transform: namedTransform(item.name, item.parameter), name };
  }
}

/**
 * A column, or a call such as `bucket(16, id)` or `days(ts)`, as a field of a partitioning or of an order.
 *
 * @throws AnalysisException `DELTA_ILLEGAL_OPTION` for another expression, and as `namedTransform`.
 */
export function partitionOf(expression: Expression): PartitionFieldDefinition {
  if (expression.kind === 'column') return { source: expression.path, transform: { kind: 'identity' } };
  if (expression.kind === 'call') {
    const columns = expression.arguments.flatMap((argument) => (argument.kind === 'column' ? [argument.path] : []));
    const numbers = expression.arguments.flatMap((argument) =>
      argument.kind === 'literal' && argument.literal.type === 'integer' ? [Number(argument.literal.value)] : [],
    );
    const [source, ...others] = columns;
    if (
      source !== undefined &&
      others.length === 0 &&
      columns.length + numbers.length === expression.arguments.length &&
      numbers.length < 2
    ) {
      return { source, transform: namedTransform(expression.name, numbers[0]) };
    }
  }
  throw invalidArgument('a partition or order field is a column or a transform of one, such as bucket(16, id) or days(ts)');
}
