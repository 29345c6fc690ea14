import { throwIfAborted } from '../../../base/abort.ts';
import type { Engine } from '../../../engine/engine.ts';
import { quoteName, sqlText, typeSql } from '../../../expr/sql/engine-sql.ts';
import type { CommitOptions } from '../../../table/row-operations.ts';
import { BatchMetrics } from '../../files/batch-metrics.ts';
import { fileMetrics } from '../../files/file-metrics.ts';
import { metricsModes } from '../../files/metrics-modes.ts';
import { withNameMapping } from '../../files/name-mapping-updates.ts';
import { partitionTexts } from '../../files/partition-tuple.ts';
import { contentFile } from '../../files/staging.ts';
import type { ContentFile, ManifestEntry, PartitionValue } from '../../metadata/content-file.ts';
import { specById } from '../../metadata/partition-type.ts';
import { fieldById } from '../../metadata/schema-fields.ts';
import type { PartitionSpec } from '../../metadata/table-metadata.ts';
import { noDeletes } from '../../scan/delete-index.ts';
import { fileScanOf } from '../../scan/file-scan.ts';
import { liveFiles } from '../../scan/live-files.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import type { TableContext } from '../../table-context.ts';
import { commitSnapshot } from '../../transaction/commit-snapshot.ts';
import { shortList } from '../../transaction/manifest-filter.ts';
import { illegalArgument } from '../operation-errors.ts';
import { type SourceFile, sourceDirectory, sourceFiles } from './source-files.ts';

export interface AddFilesRequest extends Pick<CommitOptions, 'signal'> {
  /** `` `parquet`.`/path` ``; the place has to be one the table may refer to. */
  readonly sourceTable: string;
  /** Only files of directories with these values. */
  readonly partitionFilter?: ReadonlyMap<string, string> | undefined;
  /** Refuses files that the table has already. Default true. */
  readonly checkDuplicateFiles?: boolean | undefined;
}

export interface AddFilesResult {
  readonly addedFiles: number;
  /** `undefined`: nothing was added, or the table is not partitioned. */
  readonly changedPartitions: number | undefined;
}

/**
 * Makes Parquet files that lie somewhere part of the table, where they are. They have no field ids: the table gets a name mapping
 * (`schema.name-mapping.default`) when it has none. Every file is read once, for its metrics and to see that its columns fit.
 *
 * @throws AnalysisException `INVALID_ARGUMENT` for files that cannot be added; ServiceError `FILE_OUTSIDE_TABLE` (invalid).
 */
export async function addFiles(context: TableContext, request: AddFilesRequest): Promise<AddFilesResult> {
  const { signal } = request;
  const directory = sourceDirectory(request.sourceTable);
  const base = await context.refresh(signal);
  const { state, updates } = withNameMapping(base);
  const { metadata } = state;
  const spec = specById(metadata, metadata.defaultSpecId) ?? { specId: 0, fields: [] };
  checkSpec(context.name, spec, request.partitionFilter);
  const all = await sourceFiles(context.files, directory, signal);
  const chosen = all.filter(({ partition }) => matches(partition, request.partitionFilter));
  if (request.checkDuplicateFiles !== false) await refuseDuplicates(context, base, chosen, signal);
  if (chosen.length === 0) return { addedFiles: 0, changedPartitions: undefined };
  const engine = await context.engine();
  const partitions = new PartitionTuples(engine, state, spec);
  const added: ContentFile[] = [];
  for (const file of chosen) {
    throwIfAborted(signal);
    added.push(
      await described(context, engine, state, { file, specId: spec.specId, partition: await partitions.of(file, signal) }, signal),
    );
  }
  const change = { kind: 'append', added, addsKnownFiles: true, removed: [], validation: {}, summary: {}, updates } as const;
  const committed = await commitSnapshot(context, base, change, { signal });
  const changed = committed.snapshot?.summary['changed-partition-count'];
  return { addedFiles: added.length, changedPartitions: spec.fields.length === 0 || changed === undefined ? undefined : Number(changed) };
}

function checkSpec(table: string, { fields }: PartitionSpec, filter: ReadonlyMap<string, string> | undefined): void {
  if (fields.length === 0 && filter !== undefined && filter.size > 0) {
    throw illegalArgument(`Cannot use partition filter with an unpartitioned table ${table}`);
  }
  if (fields.some(({ transform }) => transform.kind !== 'identity')) {
    throw illegalArgument(
      `Cannot add data files to target table ${table} because that table is partitioned, but contains non-identity partition transforms ` +
        'which will not be compatible.',
    );
  }
  const names = fields.map(({ name }) => name);
  const unknown = [...(filter?.keys() ?? [])].filter((name) => !names.includes(name));
  if (unknown.length === 0) return;
  throw illegalArgument(
    `Cannot add files to target table ${table}. specified partition filter refers to columns that are not partitioned: ` +
      `[${unknown.map((name) => `'${name}'`).join(', ')}] . Valid partition columns: [${names.join(',')}]`,
  );
}

function matches(partition: SourceFile['partition'], filter: ReadonlyMap<string, string> | undefined): boolean {
  return [...(filter ?? [])].every(([name, value]) => partition.get(name) === value);
}

async function refuseDuplicates(
  context: TableContext,
  state: SnapshotState,
  chosen: readonly SourceFile[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { data } = await liveFiles(context, state, undefined, signal);
  const present = new Set(data.map(({ entry }) => entry.file.path));
  const twice = chosen.map(({ location }) => location).filter((location) => present.has(location));
  if (twice.length === 0) return;
  throw illegalArgument(
    `Cannot complete import because data files to be imported already exist within the target table: ${shortList(twice)}.  This is disabled ` +
      'by default as Iceberg is not designed for multiple references to the same file within the same table.  If you are sure, you may set ' +
      "'check_duplicate_files' to false to force the import.",
  );
}

/** Partition values by the names and values of directories. */
class PartitionTuples {
  readonly #engine: Engine;
  readonly #state: SnapshotState;
  readonly #spec: PartitionSpec;
  readonly #known = new Map<string, readonly PartitionValue[]>();

  constructor(engine: Engine, state: SnapshotState, spec: PartitionSpec) {
    this.#engine = engine;
    this.#state = state;
    this.#spec = spec;
  }

  async of({ location, partition }: SourceFile, signal: AbortSignal | undefined): Promise<readonly PartitionValue[]> {
    const { fields } = this.#spec;
    if (fields.length === 0) return [];
    const absent = fields.find(({ name }) => !partition.has(name));
    if (absent !== undefined) {
      throw illegalArgument(
        `Cannot add file ${location}: its directories do not say the partition value ${absent.name}`,
        `${absent.name}=…`,
      );
    }
    const values = fields.map(({ name }) => partition.get(name));
    const key = values.map((value) => (value === undefined ? 'n' : `${value.length}:${value}`)).join();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const tuple = await this.#tuple(values, signal);
    this.#known.set(key, tuple);
    return tuple;
  }

  async #tuple(values: readonly (string | undefined)[], signal: AbortSignal | undefined): Promise<readonly PartitionValue[]> {
    const { icebergSchema } = this.#state;
    const texts = partitionTexts(icebergSchema, this.#spec);
    const columns = this.#spec.fields.flatMap(({ sourceId }, index) => {
      const source = fieldById(icebergSchema, sourceId);
      const value = values[index];
      if (source === undefined) return [];
      return [`CAST(${value === undefined ? 'NULL' : sqlText(value)} AS ${typeSql(source.type)}) AS ${quoteName(source.path.join('.'))}`];
    });
    const [row = []] = await this.#engine.rows(`SELECT ${texts.sql.join(', ')} FROM (SELECT ${columns.join(', ')})`, signal);
    return texts.tupleOf(row.map((text) => (typeof text === 'string' ? text : undefined)));
  }
}

/** Reads the file as rows of the table, for its metrics. */
async function described(
  context: TableContext,
  engine: Engine,
  state: SnapshotState,
  source: { readonly file: SourceFile; readonly specId: number; readonly partition: readonly PartitionValue[] },
  signal: AbortSignal | undefined,
): Promise<ContentFile> {
  const { file, specId, partition } = source;
  const { metadata, icebergSchema, schema } = state;
  const plain = contentFile({
    content: 'data',
    path: file.location,
    format: 'parquet',
    specId,
    partition,
    recordCount: 0,
    fileSizeBytes: file.sizeBytes,
    sortOrderId: 0,
  });
  const entry: ManifestEntry = { status: 'added', snapshotId: 0n, sequenceNumber: 0n, fileSequenceNumber: 0n, file: plain };
  const scan = await engine.scan(await fileScanOf(context, state, [{ entry, deletes: [], attached: noDeletes }], {}, signal), {}, signal);
  try {
    const metrics = new BatchMetrics(schema);
    for await (const batch of engine.read({ sql: scan.sql, schema }, signal)) metrics.add(batch);
    const modes = metricsModes(metadata.properties, icebergSchema, undefined);
    const counted = fileMetrics(icebergSchema, modes, { rowCount: metrics.rowCount, leaves: metrics.finish(undefined) });
    return { ...plain, ...counted, recordCount: metrics.rowCount };
  } finally {
    await scan.dispose();
  }
}
