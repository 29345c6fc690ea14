import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Engine, ParquetTarget, WrittenFile } from '../../engine/engine.ts';
import { parquetPlace } from '../../engine/write/parquet-place.ts';
import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';
import { someType } from '../../schema/type-tree.ts';
import type { DataType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { parquetCompression } from './compression.ts';
import { discardFiles } from './discard-files.ts';
import { fileMetrics } from './file-metrics.ts';
import { contentFile, type FileNames, fileNames, type Staging } from './staging.ts';

/**
 * Whether the engine writes every column as the format wants it: not values of a fixed length, not instants of nanoseconds, and not
 * variants, whose parts must be required. */
export function holdsEngineTypes(type: DataType): boolean {
  return !someType(type, (inner) => {
    return inner.kind === 'timestamp_ns' || inner.kind === 'variant' || (inner.kind === 'binary' && inner.fixedLength !== undefined);
  });
}

/** Parquet files written by the engine. */
export async function stageByEngine(staging: Staging): Promise<readonly ContentFile[]> {
  const engine = await staging.context.engine();
  const names = fileNames(staging.context, staging.state, staging.plan.spec, { format: 'parquet', content: 'data' });
  if (staging.plan.orderBy.length > 0) return stageSorted(staging, engine, names);
  const files = await write(staging, engine, names, { rows: staging.plan.rows, targetFileBytes: staging.targetFileBytes });
  return files.map((file) => dataFile(staging, names, file));
}

async function write(
  { context, state, plan, signal }: Staging,
  engine: Engine,
  names: FileNames,
  part: { readonly rows: Relation; readonly targetFileBytes: number | undefined },
): Promise<readonly WrittenFile[]> {
  const target: ParquetTarget = {
    ...parquetPlace(context.files.storeAt(names.root)),
    pathOf: ({ partitionValues }) => names.next(plan.tupleOf(partitionValues)),
    partitionBy: plan.partitionBy,
    compression: parquetCompression(state.metadata.properties, 'data'),
    storedSchema: plan.storedSchema,
    targetFileBytes: part.targetFileBytes,
    withDetails: true,
  };
  return engine.writeParquet(part.rows, target, signal);
}

/** Partitions of one sorted write; each is a statement of its own. */
const maxSortedPartitions = 10_000;

/** One file for each partition, its rows in the table's order. */
async function stageSorted(staging: Staging, engine: Engine, names: FileNames): Promise<readonly ContentFile[]> {
  const { plan, signal } = staging;
  const kept = await engine.materialize(plan.rows, signal);
  const staged: ContentFile[] = [];
  try {
    for (const condition of await partitionConditions(staging, engine, kept)) {
      const where = condition === undefined ? '' : ` WHERE ${condition}`;
      const rows = { sql: `SELECT * FROM (${kept.sql})${where} ORDER BY ${plan.orderBy.join(', ')}`, schema: plan.rows.schema };
      // A partition that is written alone, to one file, keeps the order.
      const files = await write(staging, engine, names, { rows, targetFileBytes: undefined });
      staged.push(...files.map((file) => dataFile(staging, names, file)));
    }
    return staged;
  } catch (error) {
    await discardFiles(staging.context, staged);
    throw error;
  } finally {
    await kept.dispose();
  }
}

async function partitionConditions({ plan, signal }: Staging, engine: Engine, rows: Relation): Promise<readonly (string | undefined)[]> {
  if (plan.partitionBy.length === 0) return [undefined];
  const columns = plan.partitionBy.map(quoteName);
  const found = await engine.rows(`SELECT DISTINCT ${columns.join(', ')} FROM (${rows.sql}) LIMIT ${maxSortedPartitions + 1}`, signal);
  if (found.length > maxSortedPartitions) {
    throw new AnalysisException({
      errorClass: 'TOO_MANY_PARTITIONS',
      kind: 'unsupported',
      message: `rows of more than ${maxSortedPartitions} partitions cannot be sorted in one write`,
      hint: 'write fewer partitions at a time, or set the table to WRITE UNORDERED',
    });
  }
  return found.map((values) =>
    columns
      .map((column, index) => {
        const value = values[index];
        return typeof value === 'string' ? `${column} = ${sqlText(value)}` : `${column} IS NULL`;
      })
      .join(' AND '),
  );
}

function dataFile({ plan }: Staging, names: FileNames, file: WrittenFile): ContentFile {
  const { details, rowCount, sizeBytes } = file;
  return contentFile({
    content: 'data',
    path: names.location(file.path),
    format: 'parquet',
    specId: plan.spec.specId,
    partition: plan.tupleOf(file.partitionValues),
    recordCount: rowCount,
    fileSizeBytes: sizeBytes,
    metrics: fileMetrics(plan.schema, plan.modes, { rowCount, leaves: details?.columns ?? [] }),
    splitOffsets: details?.splitOffsets,
    sortOrderId: plan.sortOrder?.orderId ?? 0,
  });
}
