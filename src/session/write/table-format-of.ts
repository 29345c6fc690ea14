import { unsupported } from '../../base/unsupported-feature.ts';
import { defaultTableFormat, isTableFormat, type TableFormat, tableFormatNames } from '../../table/formats.ts';
import type { TableReference } from '../plan/plan.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';

/** The table format of a name such as `delta`, `DELTA` or `iceberg`. @throws AnalysisException `UNSUPPORTED_FEATURE`. */
export function tableFormatOf(name: string): TableFormat {
  const lower = name.toLowerCase();
  if (isTableFormat(lower)) return lower;
  throw unsupported(`writing format "${name}"`, `table formats: ${tableFormatNames.join(', ')}; file formats: parquet`);
}

/**
 * The format of a table to be created: the one asked for, else that of the path, of the catalog, of the session
 * (`spark.sql.sources.default`), else Delta.
 */
export function formatOf(runtime: SessionRuntime, reference: TableReference, provider: string | undefined): TableFormat {
  if (provider !== undefined) return tableFormatOf(provider);
  if (reference.kind === 'path') return tableFormatOf(reference.format);
  const { catalog } = runtime.tables.resolve(reference.parts);
  return catalog.defaultFormat ?? tableFormatOf(runtime.conf.find('spark.sql.sources.default') ?? defaultTableFormat);
}
