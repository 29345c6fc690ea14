import { AnalysisException } from '../../base/analysis-exception.ts';
import { parquetPlace } from '../../engine/write/parquet-place.ts';
import type { Plan } from '../plan/plan.ts';
import { listDataFiles } from '../read/list-data-files.ts';
import { withRelation } from '../run/actions.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { invalidOption } from '../session-errors.ts';
import type { SaveMode } from './write-options.ts';

export interface SaveFilesRequest {
  readonly runtime: SessionRuntime;
  readonly plan: Plan;
  readonly path: string;
  readonly mode: SaveMode;
  readonly partitionBy: readonly string[];
  readonly compression: string | undefined;
  readonly signal: AbortSignal | undefined;
}

const codecs = ['zstd', 'snappy', 'uncompressed', 'gzip', 'brotli'] as const;
const nullDirectory = '__HIVE_DEFAULT_PARTITION__';

/**
 * Rows as plain Parquet files below a directory. Unlike a table this is not atomic: a reader may see some of the files. With `overwrite`
 * the old files are deleted when the new ones are complete.
 *
 * @throws AnalysisException `PATH_ALREADY_EXISTS`.
 */
export async function saveFiles(request: SaveFilesRequest): Promise<void> {
  const { runtime, plan, mode, partitionBy, signal } = request;
  const directory = runtime.tables.absolutePath(request.path);
  const before = await listDataFiles(runtime.openStore, directory, signal);
  if (before !== undefined && mode === 'ignore') return;
  if (before !== undefined && mode !== 'append' && mode !== 'overwrite') throw exists(directory);
  const store = runtime.openStore(directory);
  const compression = codecOf(request.compression);
  const run = runtime.ids.uuid();
  await withRelation(
    runtime,
    plan,
    (relation, { engine }) =>
      engine.writeParquet(
        relation,
        {
          ...parquetPlace(store),
          partitionBy,
          compression,
          pathOf: ({ partitionValues, index }) => {
            const folders = partitionBy.map((column, at) => `${escaped(column)}=${escaped(partitionValues[at] ?? nullDirectory)}/`);
            return `${folders.join('')}part-${String(index).padStart(5, '0')}-${run}.${compression}.parquet`;
          },
        },
        signal,
      ),
    signal,
  );
  if (mode !== 'overwrite') return;
  for (const file of before ?? []) await store.delete(file.slice(directory.length + 1), signal);
}

function codecOf(name: string | undefined): (typeof codecs)[number] {
  const wanted = name?.toLowerCase() ?? 'snappy';
  const codec = codecs.find((known) => known === (wanted === 'none' ? 'uncompressed' : wanted));
  if (codec === undefined) throw invalidOption('compression', wanted, `it must be one of ${codecs.join(', ')}`);
  return codec;
}

/** Characters that a directory's name cannot have, as Hive escapes them. */
function escaped(text: string): string {
  return text.replace(
    /[\u0000-\u001f"#%'*/:=?\\\u007f{[\]^]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function exists(path: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'PATH_ALREADY_EXISTS',
    message: `Path ${path} already exists. Set mode as "overwrite" to overwrite the existing path.`,
    parameters: { outputPath: path },
  });
}
