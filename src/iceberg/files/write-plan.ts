import { type ServiceError, serviceError } from '../../base/errors.ts';
import { transformSql } from '../../engine/transform-sql.ts';
import { columnPathSql, quoteName } from '../../expr/sql/engine-sql.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { PartitionValue } from '../metadata/content-file.ts';
import { specById } from '../metadata/partition-type.ts';
import { rowLineageIds, rowLineageNames } from '../metadata/reserved-ids.ts';
import { fieldById } from '../metadata/schema-fields.ts';
import type { IcebergSchema, PartitionSpec, SortOrder } from '../metadata/table-metadata.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { type MetricsMode, metricsModes } from './metrics-modes.ts';
import { partitionTexts } from './partition-tuple.ts';

/** What rows are divided and ordered by, and what of them the files hold. */
export interface WritePlan {
  readonly schema: IcebergSchema;
  readonly spec: PartitionSpec;
  /** Of rows within a file; `undefined`: they have none. */
  readonly sortOrder: SortOrder | undefined;
  /** Columns of the files, then the partition's texts. */
  readonly rows: Relation;
  /** What the files hold. */
  readonly storedSchema: StructType;
  /** Names of the texts' columns. */
  readonly partitionBy: readonly string[];
  /** Engine SQL over `rows`, each with its direction. */
  readonly orderBy: readonly string[];
  readonly tupleOf: (texts: readonly (string | undefined)[]) => readonly PartitionValue[];
  readonly modes: ReadonlyMap<number, MetricsMode>;
}

export interface PlanOptions {
  /** Default: the table's. */
  readonly specId?: number | undefined;
  /** Default: unsorted, 0. */
  readonly sortOrderId?: number | undefined;
  /** Engine SQL over the table's columns, each with its direction, in place of what the sort order says: for orders the table does not have. */
  readonly orderBy?: readonly string[] | undefined;
  /** The rows carry row id and last sequence number behind their own columns, and the files keep them. */
  readonly withRowTracking?: boolean | undefined;
}

/** @throws ServiceError `PARTITION_TRANSFORM_UNSUPPORTED` (unsupported). */
export function writePlan(state: SnapshotState, rows: Relation, options: PlanOptions): WritePlan {
  const { metadata, icebergSchema: schema } = state;
  const spec = specById(metadata, options.specId ?? metadata.defaultSpecId);
  if (spec === undefined) throw missing('partition spec', options.specId);
  const sortOrder = sortOrderOf(state, options.sortOrderId);
  const lineage = options.withRowTracking === true ? lineageFields(rows.schema.fields.slice(schema.struct.fields.length)) : [];
  const stored: StructType = { kind: 'struct', fields: [...schema.struct.fields, ...lineage] };
  const names = stored.fields.map((field) => field.name);
  const texts = partitionTexts(schema, spec);
  const partitionBy = texts.sql.map((_, index) => unusedName(`__partition_${index}`, names));
  // The rows' own names may differ: columns are matched by place.
  const given = `SELECT * FROM (${rows.sql}) AS given(${names.map(quoteName).join(', ')})`;
  const textColumns = texts.sql.map((sql, index) => `${sql} AS ${quoteName(partitionBy[index] ?? '')}`);
  const textFields = partitionBy.map((name): Field => ({ name, type: { kind: 'string' }, nullable: true }));
  return {
    schema,
    spec,
    sortOrder,
    rows: {
      sql: `SELECT ${[...names.map(quoteName), ...textColumns].join(', ')} FROM (${given})`,
      schema: { kind: 'struct', fields: [...stored.fields, ...textFields] },
    },
    storedSchema: stored,
    partitionBy,
    orderBy: options.orderBy ?? (sortOrder?.fields ?? []).flatMap((field) => sortKey(schema, field)),
    tupleOf: texts.tupleOf,
    modes: metricsModes(metadata.properties, schema, sortOrder),
  };
}

function sortOrderOf({ metadata }: SnapshotState, id: number | undefined): SortOrder | undefined {
  if (id === undefined || id === 0) return undefined;
  const order = metadata.sortOrders.find(({ orderId }) => orderId === id);
  if (order === undefined) throw missing('sort order', id);
  return order.fields.length === 0 ? undefined : order;
}

function sortKey(schema: IcebergSchema, { transform, sourceId, direction, nullOrder }: SortOrder['fields'][number]): readonly string[] {
  const source = fieldById(schema, sourceId);
  if (source === undefined) return [];
  const value = transformSql(transform, columnPathSql(source.path), source.type);
  return [`${value} ${direction.toUpperCase()} ${nullOrder === 'nulls-first' ? 'NULLS FIRST' : 'NULLS LAST'}`];
}

/** https://iceberg.apache.org/spec/#row-lineage */
function lineageFields(carried: readonly Field[]): readonly Field[] {
  if (carried.length < 2) throw missing('row lineage column', carried.length);
  const long: DataType = { kind: 'long' };
  return [
    { name: rowLineageNames.rowId, type: long, nullable: true, id: rowLineageIds.rowId },
    { name: rowLineageNames.lastUpdatedSequenceNumber, type: long, nullable: true, id: rowLineageIds.lastUpdatedSequenceNumber },
  ];
}

function unusedName(name: string, taken: readonly string[]): string {
  return taken.some((other) => other.toLowerCase() === name.toLowerCase()) ? unusedName(`_${name}`, taken) : name;
}

function missing(what: string, id: number | undefined): ServiceError {
  return serviceError.internal('ASSERTION_FAILED', `the table has no ${what} ${id ?? ''}`);
}
