import { unsupported } from '../../base/unsupported-feature.ts';
import { parseSchema } from '../../expr/parse/parse-type.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { commitOptionsOf } from './row-commands.ts';

export interface ConvertOptions {
  /** `day DATE, region STRING`. */
  readonly partitionSchema?: string | undefined;
  readonly collectStatistics: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * CONVERT TO DELTA of `` parquet.`/path` ``; gives the location.
 *
 * @throws AnalysisException `UNSUPPORTED_FEATURE` for anything that is not a directory of Parquet files.
 */
export async function convertCommand(runtime: SessionRuntime, parts: readonly string[], options: ConvertOptions): Promise<string> {
  const [format = '', path = '', ...more] = parts;
  const isDelta = format.toLowerCase() === 'delta';
  if (more.length > 0 || path === '' || (!isDelta && format.toLowerCase() !== 'parquet')) {
    throw unsupported(`converting "${parts.join('.')}"`, 'write parquet.`/path/of/the/directory`');
  }
  const location = runtime.tables.absolutePath(path);
  const columns = options.partitionSchema === undefined ? [] : parseSchema(options.partitionSchema).fields;
  const partitionColumns = columns.map(({ name, type }) => ({ name, type: sqlTypeName(type) }));
  const { collectStatistics, signal } = options;
  await runtime.tables.driver('delta').convert({ ...commitOptionsOf({ runtime, signal }), location, partitionColumns, collectStatistics });
  runtime.tables.forget(location);
  return location;
}
