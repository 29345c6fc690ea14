import { isServiceError } from '../../../base/errors.ts';
import { writePuffin } from '../../../codec/puffin/write-puffin.ts';
import { type CompactTheta, ThetaSketch } from '../../../codec/theta/theta-sketch.ts';
import { quoteName, sqlText } from '../../../expr/sql/engine-sql.ts';
import type { DataType } from '../../../schema/types.ts';
import type { Relation } from '../../../table/relation.ts';
import type { CommitOptions } from '../../../table/row-operations.ts';
import { discardFiles } from '../../files/discard-files.ts';
import { columnAt, type SchemaColumn } from '../../metadata/schema-fields.ts';
import type { IcebergSchema, IcebergSnapshot, StatisticsFile } from '../../metadata/table-metadata.ts';
import { fileScanOf } from '../../scan/file-scan.ts';
import { liveFiles } from '../../scan/live-files.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import type { TableContext } from '../../table-context.ts';
import { metadataFolder } from '../../transaction/commit-settings.ts';
import { illegalArgument } from '../operation-errors.ts';
import { addValues } from './add-values.ts';
import { type MeasuredSnapshot, measuredSnapshot, setStatistics } from './statistics-files.ts';

export interface TableStatisticsRequest extends Pick<CommitOptions, 'signal'> {
  /** Default: the newest. */
  readonly snapshotId?: bigint | undefined;
  /** Dotted names. Default: all columns of the top that are no structs, lists, maps or variants. */
  readonly columns?: readonly string[] | undefined;
}

/** https://iceberg.apache.org/puffin-spec/#apache-datasketches-theta-v1-blob-type */
const blobType = 'apache-datasketches-theta-v1';
/** About how many values differ, as text. */
const distinctValuesProperty = 'ndv';
const columnsPerPass = 100;

/**
 * Counts the distinct values of columns, about, and sets the sketches as the statistics of the snapshot, in place of those it had. The rows
 * are read once for each hundred columns.
 *
 * @returns where the file is; `undefined`: the table has no snapshot.
 * @throws AnalysisException `INVALID_ARGUMENT` for a snapshot or column that is not there, or a column that has no single values; what reading the
 * rows and committing throws.
 */
export async function computeTableStats(context: TableContext, request: TableStatisticsRequest): Promise<string | undefined> {
  const { signal } = request;
  const measured = await measuredSnapshot(context, request);
  if (measured === undefined) return undefined;
  const { state, snapshot } = measured;
  const columns = chosenColumns(state, request.columns);
  const sketches = await sketchesOf(context, state, columns, signal);
  const file = await written(context, measured, columns, sketches, signal);
  try {
    await setStatistics(context, snapshot, { action: 'set-statistics', statistics: file }, signal);
  } catch (error) {
    // After an unknown outcome the file may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await discardFiles(context, [{ path: file.statisticsPath }]);
    throw error;
  }
  return file.statisticsPath;
}

function chosenColumns({ icebergSchema, schema }: SnapshotState, names: readonly string[] | undefined): readonly SchemaColumn[] {
  if (names?.length === 0) throw illegalArgument('Columns cannot be null/empty');
  const chosen = names ?? schema.fields.filter(({ type }) => isSingle(type)).map(({ name }) => name);
  if (chosen.length === 0) throw illegalArgument('No columns found to compute stats', 'name members of structs in columns');
  const columns = [...new Set(chosen)].map((name) => {
    const column = columnNamed(icebergSchema, name);
    if (column === undefined || column.repeated)
      throw illegalArgument(`Can't find column ${name} in the table`, schema.fields.map((field) => field.name).join(', '));
    if (!isSingle(column.type)) throw illegalArgument(`Can't compute stats on non-primitive type column: ${name} (${column.type.kind})`);
    return column;
  });
  return columns;
}

/** Names may have dots. */
function columnNamed(schema: IcebergSchema, name: string): SchemaColumn | undefined {
  return columnAt(schema, [name]) ?? columnAt(schema, name.split('.'));
}

function isSingle({ kind }: DataType): boolean {
  return kind !== 'struct' && kind !== 'list' && kind !== 'map' && kind !== 'variant';
}

/** Some columns at a time: each holds thousands of hashes. */
async function sketchesOf(
  context: TableContext,
  state: SnapshotState,
  columns: readonly SchemaColumn[],
  signal: AbortSignal | undefined,
): Promise<readonly CompactTheta[]> {
  const engine = await context.engine();
  const { data } = await liveFiles(context, state, undefined, signal);
  const relation = await engine.scan(await fileScanOf(context, state, data, {}, signal), {}, signal);
  try {
    const found: CompactTheta[] = [];
    for (let from = 0; from < columns.length; from += columnsPerPass) {
      const { query, sketches } = pass(relation, columns.slice(from, from + columnsPerPass));
      for await (const batch of engine.read(query, signal)) {
        for (const [index, sketch] of sketches.entries()) {
          const column = batch.columns[index];
          if (column !== undefined) addValues(sketch, column);
        }
      }
      found.push(...sketches.map((sketch) => sketch.compact()));
    }
    return found;
  } finally {
    await relation.dispose();
  }
}

function pass(rows: Relation, columns: readonly SchemaColumn[]): { readonly query: Relation; readonly sketches: readonly ThetaSketch[] } {
  const fields = columns.map(({ type }, index) => ({ name: `c${index}`, type, nullable: true }));
  const values = columns.map(({ path }, index) => `${valueSql(path)} AS c${index}`);
  return {
    query: { sql: `SELECT ${values.join(', ')} FROM (${rows.sql})`, schema: { kind: 'struct', fields } },
    sketches: columns.map(() => new ThetaSketch()),
  };
}

function valueSql([first = '', ...members]: readonly string[]): string {
  return members.reduce((sql, name) => `struct_extract(${sql}, ${sqlText(name)})`, quoteName(first));
}

async function written(
  context: TableContext,
  { state, snapshot }: MeasuredSnapshot,
  columns: readonly SchemaColumn[],
  sketches: readonly CompactTheta[],
  signal: AbortSignal | undefined,
): Promise<StatisticsFile> {
  const { files, ids, engineName, engineVersion } = context;
  const { location, properties } = state.metadata;
  const statisticsPath = `${metadataFolder(location, properties)}/${snapshot.snapshotId}-${ids.uuid()}.stats`;
  const blobs = sketches.map((sketch, index) => blobOf(sketch, columns[index], snapshot));
  // Hashes do not get smaller by packing.
  const { bytes, footerSizeBytes } = writePuffin(blobs, { 'created-by': `${engineName} ${engineVersion}` });
  await files.put(statisticsPath, bytes, signal);
  return {
    snapshotId: snapshot.snapshotId,
    statisticsPath,
    fileSizeInBytes: BigInt(bytes.byteLength),
    fileFooterSizeInBytes: BigInt(footerSizeBytes),
    keyMetadata: undefined,
    blobMetadata: blobs.map(({ type, fields, snapshotId, sequenceNumber, properties: described }) => ({
      type,
      'snapshot-id': snapshotId,
      'sequence-number': sequenceNumber,
      fields,
      properties: described,
    })),
  };
}

function blobOf({ bytes, estimate }: CompactTheta, column: SchemaColumn | undefined, { snapshotId, sequenceNumber }: IcebergSnapshot) {
  return {
    type: blobType,
    fields: column === undefined ? [] : [column.id],
    snapshotId,
    sequenceNumber,
    properties: { [distinctValuesProperty]: String(Math.trunc(estimate)) },
    content: bytes,
  };
}
