import { throwIfAborted } from '../../base/abort.ts';
import { AnalysisException } from '../../base/analysis-exception.ts';
import { printJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import { parseDataType } from '../../expr/parse/parse-type.ts';
import { sqlText, typeSql } from '../../expr/sql/engine-sql.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { PartitionValues } from '../../table/staged-file.ts';
import type { ConvertRequest } from '../../table/table-formats.ts';
import { beforeFirstVersion } from '../../table/version.ts';
import type { AddFile } from '../actions.ts';
import { DeltaSnapshot } from '../delta-snapshot.ts';
import { fileStatistics } from '../files/file-statistics.ts';
import { statisticsRule } from '../files/statistics-rule.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { encodePath } from '../paths.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import { statsText } from '../stats-text.ts';
import { firstActions } from '../table-definition.ts';
import { commitTransaction } from '../transaction/commit-transaction.ts';
import { type DirectoryFile, listDirectory } from './parquet-directory.ts';
import { mergedSchema, type SchemaElement, schemaOfFile } from './parquet-schema.ts';

/** Files whose footers, and then rows, one query of the engine reads. */
const filesPerQuery = 500;

/**
 * CONVERT TO DELTA: makes a table of the Parquet files below the context's location, as version 0 that names them where they lie. Columns are
 * those of all files together, then the partition columns of the folders. `existing`: the table that is there already, which is left as it is.
 *
 * @throws AnalysisException what `listDirectory`, `schemaOfFile`, `mergedSchema` and `firstActions` throw, `DELTA_FAILED_READ_FILE_FOOTER` (KD001)
 * for a file that is not Parquet, `DELTA_FAILED_CAST_PARTITION_VALUE` (22018); the errors of `commitTransaction`.
 */
export async function convertTable(context: OperationContext, existing: DeltaSnapshot | undefined, request: ConvertRequest): Promise<void> {
  if (existing !== undefined) return;
  const { signal } = request;
  const root = context.localRoot();
  const partition = request.partitionColumns.map(({ name, type }): Field => ({ name, type: parseDataType(type), nullable: true }));
  const files = await listDirectory(
    context.store,
    partition.map(({ name }) => name),
    signal,
  );
  const engine = await context.engine();
  const schema = withPartitionColumns(await schemaOfFiles(engine, root, files, signal), partition);
  const partitionColumns = partition.map(({ name }) => name);
  const defined = firstActions(
    context.name,
    { schema, partitionColumns, properties: {} },
    { tableId: context.ids.uuid(), nowMs: context.clock.now(), ids: context.ids },
  );
  const shape = DeltaSnapshot.replay(context.name, { version: beforeFirstVersion, modifiedMs: 0 }, [defined.protocol, defined.metadata]);
  const collectStats = request.collectStatistics !== false;
  const plain = await plainFiles(engine, partition, files, signal);
  const added = collectStats ? await withStatistics(context, engine, shape, plain, signal) : plain;
  await commitTransaction(context, {
    base: shape,
    operation: 'CONVERT',
    operationParameters: { numFiles: files.length, partitionedBy: printJson(partitionColumns), collectStats, sourceFormat: 'parquet' },
    operationMetrics: { numConvertedFiles: String(files.length) },
    actions: [defined.protocol, defined.metadata, ...defined.domains, ...added],
    reads: {},
    autoCompact: { enabled: false },
    userMetadata: request.userMetadata,
    idempotency: request.idempotency,
    signal,
  });
}

/** A column that files have too gets the type of the folders: their value is what counts. */
function withPartitionColumns(data: StructType, partition: readonly Field[]): StructType {
  const named = (name: string): Field | undefined => partition.find((field) => field.name.toLowerCase() === name.toLowerCase());
  const fields = data.fields.map((field) => named(field.name) ?? field);
  return { kind: 'struct', fields: [...fields, ...partition.filter((field) => !fields.includes(field))] };
}

async function schemaOfFiles(
  engine: Engine,
  root: string,
  files: readonly DirectoryFile[],
  signal: AbortSignal | undefined,
): Promise<StructType> {
  let merged: StructType = { kind: 'struct', fields: [] };
  for (let from = 0; from < files.length; from += filesPerQuery) {
    throwIfAborted(signal);
    const paths = files.slice(from, from + filesPerQuery).map((file) => `${root}/${file.path}`);
    const elements = await elementsOf(engine, paths, signal);
    for (const path of paths) merged = mergedSchema(merged, schemaOfFile(path, elements.get(path) ?? []), path);
  }
  return merged;
}

async function elementsOf(
  engine: Engine,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, readonly SchemaElement[]>> {
  const elements = new Map<string, SchemaElement[]>();
  for (const row of await footerRows(engine, paths, signal)) {
    const [file, name, type, repetition, childCount, convertedType, logicalType, precision, scale] = row;
    const own = elements.get(String(file)) ?? [];
    elements.set(String(file), own);
    own.push({
      name: String(name),
      type: textOf(type),
      repetition: textOf(repetition),
      childCount: Number(childCount ?? 0),
      convertedType: textOf(convertedType),
      logicalType: textOf(logicalType),
      precision: numberOf(precision),
      scale: numberOf(scale),
    });
  }
  return elements;
}

const footerColumns = 'file_name, name, type, repetition_type, num_children, converted_type, logical_type, precision, scale';

/** When one of the files cannot be read, says which. */
async function footerRows(
  engine: Engine,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly (readonly unknown[])[]> {
  const read = (some: readonly string[]): ReturnType<Engine['rows']> =>
    engine.rows(`SELECT ${footerColumns} FROM parquet_schema([${some.map((path) => sqlText(escapedGlob(path))).join(', ')}])`, signal);
  try {
    return await read(paths);
  } catch (cause) {
    if (isServiceError(cause, 'aborted', 'unavailable')) throw cause;
    for (const path of paths) {
      await read([path]).catch((error: unknown) => {
        throw cannotReadFooter(path, error);
      });
    }
    throw cause;
  }
}

/** The engine takes paths for patterns. */
function escapedGlob(path: string): string {
  return path.replaceAll(/[*?[]/g, (character) => `[${character}]`);
}

async function plainFiles(
  engine: Engine,
  partition: readonly Field[],
  files: readonly DirectoryFile[],
  signal: AbortSignal | undefined,
): Promise<readonly AddFile[]> {
  const texts = await Promise.all(
    partition.map((field, index) =>
      canonicalTexts(
        engine,
        field,
        files.map((file) => file.partition[index]),
        signal,
      ),
    ),
  );
  return files.map((file): AddFile => {
    const partitionValues: Record<string, string | undefined> = {};
    for (const [index, field] of partition.entries()) partitionValues[field.name] = texts[index]?.get(file.partition[index] ?? '');
    return {
      kind: 'add',
      path: encodePath(file.path),
      storedPath: file.path,
      partitionValues: partitionValues satisfies PartitionValues,
      sizeBytes: file.sizeBytes,
      modifiedMs: file.modifiedMs,
      dataChange: true,
    };
  });
}

/** Texts of folders as the log spells values of the column's type. */
async function canonicalTexts(
  engine: Engine,
  field: Field,
  given: readonly (string | undefined)[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string>> {
  const distinct = [...new Set(given)].filter((text) => text !== undefined);
  const found = new Map<string, string>();
  for (let from = 0; from < distinct.length; from += filesPerQuery) {
    const some = distinct.slice(from, from + filesPerQuery);
    const values = some.map((text) => `(${sqlText(text)})`).join(', ');
    const rows = await engine.rows(`SELECT v, ${textSql(field.type)} FROM (VALUES ${values}) AS t(v)`, signal);
    for (const [text, canonical] of rows) {
      if (typeof text === 'string' && typeof canonical === 'string') found.set(text, canonical);
      else throw cannotCast(String(text), field.type);
    }
  }
  return found;
}

function textSql(type: DataType): string {
  const value = `TRY_CAST(v AS ${typeSql(type)})`;
  return type.kind === 'timestamp' ? `CAST(${value} AT TIME ZONE 'UTC' AS VARCHAR)` : `CAST(${value} AS VARCHAR)`;
}

async function withStatistics(
  context: OperationContext,
  engine: Engine,
  shape: DeltaSnapshot,
  files: readonly AddFile[],
  signal: AbortSignal | undefined,
): Promise<readonly AddFile[]> {
  const rule = statisticsRule(shape);
  const done: AddFile[] = [];
  for (let from = 0; from < files.length; from += filesPerQuery) {
    const some = files.slice(from, from + filesPerQuery);
    const rows = await fileStatistics(engine, fileScanOf(context, shape, some), rule.indexed ?? (() => true), signal);
    done.push(
      ...some.map((file, index): AddFile => {
        const own = rows[index];
        return own === undefined ? file : { ...file, stats: statsText(own, shape.schema, shape.partitionColumns, rule) };
      }),
    );
  }
  return done;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'bigint' || typeof value === 'number' ? Number(value) : undefined;
}

function cannotReadFooter(path: string, cause: unknown): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_FAILED_READ_FILE_FOOTER',
    kind: 'corrupt',
    parameters: { currentFile: path },
    message: `Could not read footer for file: ${path}`,
    hint: 'only directories of whole Parquet files can be converted; move other files away, or give them a name that starts with _ or .',
    cause,
  });
}

function cannotCast(value: string, type: DataType): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_FAILED_CAST_PARTITION_VALUE',
    parameters: { value, dataType: describeType(type) },
    message: `Failed to cast partition value \`${value}\` to ${describeType(type)}`,
    hint: 'give the partition column the type string',
  });
}
