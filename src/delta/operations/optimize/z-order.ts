import { AnalysisException } from '../../../base/analysis-exception.ts';
import { type ClusterColumn, curveBits } from '../../../rows/order/z-order.ts';
import { structLeaves } from '../../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../../schema/types.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';

/**
 * The columns of a ZORDER BY in the table's own spelling.
 *
 * @throws AnalysisException `DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST`, `DELTA_ZORDERING_ON_PARTITION_COLUMN`,
 * `DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS`, `DELTA_CLUSTERING_WITH_ZORDER_BY`.
 */
export function clusterColumns(snapshot: DeltaSnapshot, names: readonly string[]): readonly ClusterColumn[] {
  const columns = names.map((name) => columnOf(snapshot, name));
  const without = columns.filter((column) => !hasStatistics(snapshot, column.path)).map((column) => column.path.join('.'));
  if (without.length > 0) throw withoutStatistics(without);
  if (columns.length > curveBits) {
    throw new AnalysisException({
      errorClass: 'DELTA_ZORDERING_TOO_MANY_COLUMNS',
      message: `cannot cluster by ${columns.length} columns, ${curveBits} is the most`,
      hint: 'choose the few columns that queries filter by: each further one makes the others less effective',
    });
  }
  const clustered = [...snapshot.domains()].some((domain) => domain.domain === 'delta.clustering');
  if (!clustered) return columns;
  throw new AnalysisException({
    errorClass: 'DELTA_CLUSTERING_WITH_ZORDER_BY',
    parameters: { zOrderBy: names.join(', ') },
    message: `OPTIMIZE command for Delta table with clustering cannot specify ZORDER BY. Please remove ZORDER BY (${names.join(', ')}).`,
  });
}

function columnOf(snapshot: DeltaSnapshot, name: string): ClusterColumn {
  const whole = fieldNamed(snapshot.schema, name);
  const parts = whole === undefined ? name.split('.') : [name];
  let type: DataType = snapshot.schema;
  const path: string[] = [];
  for (const part of parts) {
    const field: Field | undefined = type.kind === 'struct' ? fieldNamed(type, part) : undefined;
    if (field === undefined) throw unknownColumn(name);
    path.push(field.name);
    type = field.type;
  }
  if (snapshot.partitionColumns.includes(path[0] ?? '')) {
    throw new AnalysisException({
      errorClass: 'DELTA_ZORDERING_ON_PARTITION_COLUMN',
      parameters: { colName: name },
      message: `${name} is a partition column. Z-Ordering can only be performed on data columns`,
    });
  }
  return { path, type };
}

function fieldNamed(schema: StructType, name: string): Field | undefined {
  return schema.fields.find((field) => field.name.toLowerCase() === name.toLowerCase());
}

/** Skipping files by a column needs bounds of it: clustering by another column costs and gives nothing. */
function hasStatistics(snapshot: DeltaSnapshot, path: readonly string[]): boolean {
  const chosen = snapshot.metadata.configuration['delta.dataSkippingStatsColumns'];
  const wanted = path.join('.').toLowerCase();
  if (chosen !== undefined) {
    const names = chosen.split(',').map((name) => name.trim().replaceAll('`', '').toLowerCase());
    return names.some((name) => wanted === name || wanted.startsWith(`${name}.`));
  }
  const indexed = snapshot.settings.statisticsColumns;
  const leaves = structLeaves({
    kind: 'struct',
    fields: snapshot.schema.fields.filter((field) => !snapshot.partitionColumns.includes(field.name)),
  });
  const place = leaves.findIndex(({ path }) => path.join('.').toLowerCase() === wanted);
  return place >= 0 && (indexed < 0 || place < indexed);
}

function unknownColumn(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST',
    parameters: { columnName: name },
    message: `Z-Ordering column ${name} does not exist in data schema.`,
  });
}

function withoutStatistics(names: readonly string[]): AnalysisException {
  const cols = `[${names.join(', ')}]`;
  return new AnalysisException({
    errorClass: 'DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS',
    parameters: { cols },
    message: `Z-Ordering on ${cols} will be ineffective, because we currently do not collect stats for these columns.`,
    hint: 'move the columns forward in the schema, or raise delta.dataSkippingNumIndexedCols and rewrite the table',
  });
}
