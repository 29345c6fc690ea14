import { transformSql } from '../../../engine/transform-sql.ts';
import type { Expression, SortKey } from '../../../expr/expression.ts';
import { readSortKey } from '../../../expr/parse/parse-call.ts';
import { ExpressionParser } from '../../../expr/parse/parse-expression.ts';
import { TokenStream } from '../../../expr/parse/token-stream.ts';
import { columnPathSql } from '../../../expr/sql/engine-sql.ts';
import { type ClusterColumn, curveBits } from '../../../rows/order/z-order.ts';
import { namedTransform, printTransform, type Transform } from '../../../table/partitioning/transform.ts';
import { findSource } from '../../definition/find-source.ts';
import { fieldById } from '../../metadata/schema-fields.ts';
import type { IcebergSchema, PartitionSpec, SortField, TableMetadata } from '../../metadata/table-metadata.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import { illegalArgument } from '../operation-errors.ts';

/** How rows of rewritten files are ordered. */
export type RewriteOrder =
  | { readonly kind: 'none' }
  /** `orderId`: the order of the table that it is; 0 for any other. */
  | { readonly kind: 'sorted'; readonly fields: readonly SortField[]; readonly orderId: number }
  | { readonly kind: 'z-order'; readonly columns: readonly ClusterColumn[] };

/** As other engines name it in messages. */
export function rewriterName({ kind }: RewriteOrder): string {
  return kind === 'none' ? 'BIN-PACK' : kind === 'sorted' ? 'SORT' : 'Z-ORDER';
}

/**
 * The order that a strategy and a text like `id DESC NULLS FIRST, bucket(4, name)` or `zorder(a, b)` ask for; without a text the table's.
 *
 * @throws AnalysisException `INVALID_ARGUMENT`, `FIELD_NOT_FOUND`; ParseException for what is no order.
 */
export function rewriteOrder(
  state: SnapshotState,
  { strategy, sortOrder }: { readonly strategy?: string | undefined; readonly sortOrder?: string | undefined },
): RewriteOrder {
  const name = strategy?.toLowerCase() ?? (sortOrder === undefined ? 'binpack' : 'sort');
  if (name !== 'binpack' && name !== 'sort') {
    throw illegalArgument(`unsupported strategy: ${strategy ?? ''}. Only binpack or sort is supported`);
  }
  if (name === 'binpack') {
    if (sortOrder === undefined) return { kind: 'none' };
    throw illegalArgument('Must use only one rewriter type (bin-pack, sort, zorder)', 'leave sort_order out, or take the strategy sort');
  }
  return sortOrder === undefined ? tableOrder(state) : givenOrder(state, sortOrder);
}

/** ORDER BY items over rows of the schema, each with its direction. */
export function sortKeysSql(schema: IcebergSchema, fields: readonly SortField[]): readonly string[] {
  return fields.flatMap(({ sourceId, transform, direction, nullOrder }) => {
    const source = fieldById(schema, sourceId);
    if (source === undefined) return [];
    const value = transformSql(transform, columnPathSql(source.path), source.type);
    return [`${value} ${direction.toUpperCase()} ${nullOrder === 'nulls-first' ? 'NULLS FIRST' : 'NULLS LAST'}`];
  });
}

/** ORDER BY items that bring the rows of each partition together. */
export function partitionKeysSql(schema: IcebergSchema, spec: PartitionSpec): readonly string[] {
  const fields = spec.fields.filter(({ transform }) => transform.kind !== 'void' && transform.kind !== 'unknown');
  return sortKeysSql(
    schema,
    fields.map(({ sourceId, transform }): SortField => ({ sourceId, transform, direction: 'asc', nullOrder: 'nulls-first' })),
  );
}

function tableOrder({ metadata }: SnapshotState): RewriteOrder {
  const order = metadata.sortOrders.find(({ orderId }) => orderId === metadata.defaultSortOrderId);
  if (order !== undefined && order.fields.length > 0) return { kind: 'sorted', fields: order.fields, orderId: order.orderId };
  throw illegalArgument(
    `Cannot sort data without a valid sort order, table '${metadata.location}' is unsorted and no sort order is provided`,
    'give sort_order, or ALTER TABLE … WRITE ORDERED BY',
  );
}

function givenOrder({ metadata, icebergSchema }: SnapshotState, text: string): RewriteOrder {
  const stream = new TokenStream(text);
  const parser = new ExpressionParser(stream);
  const keys = stream.list(() => readSortKey(parser));
  stream.expectEnd();
  const curves = keys.filter(({ expression }) => nameOf(expression) === 'zorder');
  if (curves.length > 0) {
    if (keys.length > 1) throw illegalArgument(`Cannot mix identity sort columns and a Zorder sort expression: ${text}`);
    return zOrder(icebergSchema, curves[0]?.expression);
  }
  return sortedBy(
    metadata,
    keys.map((key) => sortField(icebergSchema, key)),
  );
}

/** Rows of one key after the other; as they come where there is none. */
export function keyOrder({ metadata, icebergSchema }: SnapshotState, keyColumns: readonly string[]): RewriteOrder {
  if (keyColumns.length === 0) return { kind: 'none' };
  const fields = keyColumns.map((name): SortField => {
    const sourceId = findSource(icebergSchema, [name]).id;
    return { sourceId, transform: { kind: 'identity' }, direction: 'asc', nullOrder: 'nulls-first' };
  });
  return sortedBy(metadata, fields);
}

function sortedBy(metadata: TableMetadata, fields: readonly SortField[]): RewriteOrder {
  const known = metadata.sortOrders.find(
    (order) => order.fields.length === fields.length && order.fields.every((field, at) => same(field, fields[at])),
  );
  return { kind: 'sorted', fields, orderId: known?.orderId ?? 0 };
}

function zOrder(schema: IcebergSchema, call: Expression | undefined): RewriteOrder {
  const args = call?.kind === 'call' ? call.arguments : [];
  const columns = args.map((argument): ClusterColumn => {
    if (argument.kind !== 'column') throw notAColumn();
    const { path, type, repeated } = findSource(schema, argument.path);
    if (repeated || type.kind === 'struct' || type.kind === 'list' || type.kind === 'map') {
      throw illegalArgument(`Cannot use column ${path.join('.')} in ZOrdering, the type is unsupported`);
    }
    return { path, type };
  });
  if (columns.length === 0) throw illegalArgument('Cannot ZOrder when no columns are specified');
  if (columns.length > curveBits) throw illegalArgument(`cannot cluster by ${columns.length} columns, ${curveBits} is the most`);
  return { kind: 'z-order', columns };
}

function sortField(schema: IcebergSchema, { expression, descending, nullsFirst }: SortKey): SortField {
  const { path, transform } = termOf(expression);
  return {
    transform,
    sourceId: findSource(schema, path).id,
    direction: descending ? 'desc' : 'asc',
    nullOrder: (nullsFirst ?? !descending) ? 'nulls-first' : 'nulls-last',
  };
}

function termOf(expression: Expression): { readonly path: readonly string[]; readonly transform: Transform } {
  if (expression.kind === 'column') return { path: expression.path, transform: { kind: 'identity' } };
  if (expression.kind !== 'call') throw notAColumn();
  const column = expression.arguments.find((argument) => argument.kind === 'column');
  const parameter = expression.arguments.find((argument) => argument.kind === 'literal');
  const number = parameter?.kind === 'literal' && parameter.literal.type === 'integer' ? Number(parameter.literal.value) : undefined;
  if (column?.kind !== 'column') throw notAColumn();
  return { path: column.path, transform: namedTransform(expression.name, number) };
}

function nameOf(expression: Expression): string | undefined {
  return expression.kind === 'call' ? expression.name.toLowerCase() : undefined;
}

function same(left: SortField, right: SortField | undefined): boolean {
  return (
    left.sourceId === right?.sourceId &&
    left.direction === right.direction &&
    left.nullOrder === right.nullOrder &&
    printTransform(left.transform) === printTransform(right.transform)
  );
}

function notAColumn(): ReturnType<typeof illegalArgument> {
  return illegalArgument(
    'a sort order is made of columns, bucket(n, c), truncate(n, c), years(c), months(c), days(c), hours(c) or zorder(a, b)',
  );
}
