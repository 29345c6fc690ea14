import type { TableFormat } from '../../table/table.ts';
import { unsupported } from '../session-errors.ts';

/** The table format of a name such as `delta`, `DELTA` or a class name of it. @throws AnalysisException `UNSUPPORTED_FEATURE`. */
export function tableFormatOf(name: string): TableFormat {
  const lower = name.toLowerCase();
  if (lower === 'delta' || lower === 'iceberg') return lower;
  throw unsupported(`writing format "${name}"`, 'table formats: delta, iceberg; file formats: parquet');
}
