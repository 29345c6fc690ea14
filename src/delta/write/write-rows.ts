import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import type { Relation } from '../../table/relation.ts';
import type { WriteRequest, WriteResult } from '../../table/row-operations.ts';
import { feedColumns } from '../definition/check-schema.ts';
import { appendOnlyError } from '../delta-committer.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { checkRowsWritable } from '../table-features.ts';
import { isAlreadyWritten } from '../transaction/idempotency.ts';
import { evolveSchema } from './evolve-schema.ts';
import { nothingWritten, RowWrite } from './row-write.ts';
import { refuseMisplacedMembers, structRule } from './structs-by-place.ts';

/**
 * Appends or overwrites; one version, or none when there is nothing to write. The rows are read once, or kept by the engine first when they
 * have to be checked. What a failed write staged is deleted, unless it may be part of the table.
 *
 * @throws AnalysisException what `evolveSchema`, `prepareRows` and `checkRows` throw, `DELTA_REPLACE_WHERE_MISMATCH` (44000),
 * `DELTA_CANNOT_MODIFY_APPEND_ONLY` (42809), `RESERVED_CDC_COLUMNS_ON_WRITE` (42939); the errors of `commitTransaction`.
 */
export async function writeRows(context: OperationContext, request: WriteRequest): Promise<WriteResult> {
  const newest = await context.refresh(request.signal);
  if (isAlreadyWritten(newest, request)) return nothingWritten;
  // What others added since the rows were read stands between both.
  const readVersion = request.readVersions?.get(newest.tableId) ?? newest.version;
  const base = readVersion < newest.version ? await context.snapshotAt(readVersion, request.signal) : newest;
  checkRowsWritable(base.protocol, base.metadata, context.name);
  if (request.mode.kind !== 'append' && base.settings.appendOnly) throw appendOnlyError(context.name);
  if (base.settings.changeDataFeed) refuseFeedColumns(request.rows);
  const byPlace = structRule(base.schema, request);
  refuseMisplacedMembers(context.name, base.schema, request, byPlace);
  const target = evolveSchema(context, base, request, byPlace);
  requirePartitions(base, request);
  const write = new RowWrite(context, request, { base, target, byPlace, engine: await context.engine() });
  try {
    return await write.run();
  } catch (error) {
    // After an unknown outcome the files may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await write.discard();
    throw error;
  } finally {
    await write.release();
  }
}

/** Rows of a DataFrame, which go by name, say which partition they are of, unless the table computes it. */
function requirePartitions({ schema, partitionColumns }: DeltaSnapshot, { rows, matchBy = 'name', ...request }: WriteRequest): void {
  if (matchBy !== 'name' || request.storeAssignment === true || request.overwriteSchema === true) return;
  const given = new Set(rows.schema.fields.map((field) => field.name.toLowerCase()));
  const lacking = partitionColumns.find((name) => {
    const metadata = schema.fields.find((field) => field.name === name)?.metadata;
    const own = metadata?.['delta.generationExpression'] ?? metadata?.['CURRENT_DEFAULT'];
    return !given.has(name.toLowerCase()) && own === undefined;
  });
  if (lacking === undefined) return;
  throw new AnalysisException({
    errorClass: 'DELTA_MISSING_PARTITION_COLUMN',
    message: `Partition column \`${lacking}\` not found in schema ${[...given].join(', ')}`,
    parameters: { columnName: `\`${lacking}\`` },
    hint: 'give the rows the column, with NULL where they are of no partition',
  });
}

function refuseFeedColumns(rows: Relation): void {
  const reserved = rows.schema.fields.map((field) => field.name).filter((name) => feedColumns.includes(name.toLowerCase()));
  if (reserved.length === 0) return;
  const columnList = `[${reserved.join(',')}]`;
  throw new AnalysisException({
    errorClass: 'RESERVED_CDC_COLUMNS_ON_WRITE',
    message:
      `The write contains reserved columns ${columnList} that are used\ninternally as metadata for Change Data Feed. To write to the table ` +
      'either rename/drop\nthese columns or disable Change Data Feed on the table by setting\ndelta.enableChangeDataFeed to false.',
    parameters: { columnList, config: 'delta.enableChangeDataFeed' },
    hint: 'rename the columns, or leave them out',
  });
}
