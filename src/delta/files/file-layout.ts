import { AnalysisException } from '../../base/analysis-exception.ts';
import type { IdSource } from '../../base/ids.ts';
import type { ParquetTarget } from '../../engine/engine.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import { withColumnIds } from '../../schema/column-ids.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { Field, StructType } from '../../schema/types.ts';
import { partitionDirectory } from '../../table/partition-directory.ts';
import { hasPartitionText, partitionTextSql } from '../../table/partitioning/partition-text.ts';
import type { Relation } from '../../table/relation.ts';
import type { PartitionValues } from '../../table/staged-file.ts';
import { physicalPartitionColumns, physicalSchema } from '../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { twinNoteOf } from '../leader/twin-note.ts';

/** How rows of a table become files: which columns the files hold under which names, and how the partition is spelled. */
export interface FileLayout {
  /** The columns of the files, then the partition values as the log spells them. */
  readonly rows: Relation;
  /** Names of those last columns. */
  readonly partitionTexts: readonly string[];
  /** What the files hold: physical names, and field ids where the table maps columns. */
  readonly storedSchema: StructType;
  /** Partition columns as `partitionValues` and statistics know them. */
  readonly partitionColumns: readonly string[];
  /** The one partition of all rows, by those names, when it is known beforehand: no column tells it then. */
  readonly samePartition?: PartitionValues | undefined;
}

/**
 * The layout for `rows`: the snapshot's columns in order, and behind them `extra` columns that only these files hold.
 *
 * @throws AnalysisException `INVALID_PARTITION_COLUMN_DATA_TYPE`.
 */
export function fileLayout(
  snapshot: DeltaSnapshot,
  rows: Relation,
  extra: readonly Field[] = [],
  samePartition?: PartitionValues,
): FileLayout {
  const { schema, mapping } = snapshot;
  const isPartition = (field: Field): boolean => snapshot.partitionColumns.includes(field.name);
  const stored = [...schema.fields.filter((field) => !isPartition(field)), ...extra];
  const told = samePartition === undefined ? snapshot.partitionColumns : [];
  const partition = told.flatMap((name) => schema.fields.filter((field) => field.name === name));
  const taken = new Set(rows.schema.fields.map((field) => field.name.toLowerCase()));
  const texts = partition.map((field, index) => ({
    name: unusedName(`__partition_${index}`, taken),
    sql: partitionTextSql(quoteName(partitionable(field).name), field.type, 'log'),
  }));
  const columns = [...stored.map((field) => quoteName(field.name)), ...texts.map(({ name, sql }) => `${sql} AS ${quoteName(name)}`)];
  const textFields = texts.map(({ name }): Field => ({ name, type: { kind: 'string' }, nullable: true }));
  return {
    rows: {
      sql: `SELECT ${columns.join(', ')} FROM (${rows.sql})`,
      schema: { kind: 'struct', fields: [...stored, ...textFields] },
    },
    partitionTexts: texts.map(({ name }) => name),
    storedSchema: withColumnIds(physicalSchema({ kind: 'struct', fields: stored }, mapping), twinNoteOf(snapshot.metadata)?.columnIds),
    partitionColumns: physicalPartitionColumns(schema, snapshot.partitionColumns, mapping),
    samePartition,
  };
}

/** The values of a file's partition by the names the log has them under. */
export function partitionValuesOf(layout: FileLayout, values: readonly (string | undefined)[]): PartitionValues {
  const same = layout.samePartition;
  return Object.fromEntries(layout.partitionColumns.map((column, index) => [column, same === undefined ? values[index] : same[column]]));
}

const suffixes: ReadonlyMap<ParquetTarget['compression'], string> = new Map([
  ['zstd', '.zstd'],
  ['snappy', '.snappy'],
  ['uncompressed', ''],
  ['gzip', '.gz'],
  ['lz4_raw', '.lz4raw'],
  ['brotli', '.br'],
]);

/** Paths of files relative to the table, named as Spark names them and never used before. */
export function namer(
  layout: FileLayout,
  options: { readonly ids: IdSource; readonly compression: ParquetTarget['compression']; readonly kind: 'part' | 'cdc' },
): ParquetTarget['pathOf'] {
  const { ids, compression, kind } = options;
  const root = kind === 'cdc' ? '_change_data/' : '';
  return ({ partitionValues, index }) => {
    const directory = partitionDirectory(layout.partitionColumns, partitionValuesOf(layout, partitionValues));
    return `${root}${directory}${kind}-${String(index).padStart(5, '0')}-${ids.uuid()}.c000${suffixes.get(compression) ?? ''}.parquet`;
  };
}

function partitionable(field: Field): Field {
  if (hasPartitionText(field.type)) return field;
  const type = describeType(field.type);
  throw new AnalysisException({
    errorClass: 'INVALID_PARTITION_COLUMN_DATA_TYPE',
    message: `Cannot use "${type.toUpperCase()}" for partition column "${field.name}"`,
    parameters: { type, columnName: field.name },
    hint: 'partition by a column of text, number, boolean, date or timestamp type',
  });
}

function unusedName(name: string, taken: ReadonlySet<string>): string {
  return taken.has(name) ? unusedName(`_${name}`, taken) : name;
}
