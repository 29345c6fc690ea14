import { throwIfAborted } from '../../../base/abort.ts';
import type { TableFiles } from '../../table-files.ts';
import { illegalArgument } from '../operation-errors.ts';

/** A file of a directory of data, with what its directories say of it (`name=value`). */
export interface SourceFile {
  readonly location: string;
  readonly sizeBytes: number;
  /** `undefined`: null. */
  readonly partition: ReadonlyMap<string, string | undefined>;
}

/** Files of one import. */
const maxFiles = 1_000_000;
const nullSegment = '__HIVE_DEFAULT_PARTITION__';

/**
 * The directory that a text such as `` `parquet`.`/path` `` names.
 *
 * @throws AnalysisException `INVALID_ARGUMENT` for tables of a catalog and for other formats.
 */
export function sourceDirectory(sourceTable: string): string {
  const [, format = '', quoted, plain] = /^`?(\w+)`?\.(?:`([^`]+)`|(.+))$/s.exec(sourceTable.trim()) ?? [];
  const directory = quoted ?? plain;
  if (directory === undefined || !directory.includes('/')) {
    throw illegalArgument(`Cannot add files of ${sourceTable}`, 'source_table is a directory: `parquet`.`/path`');
  }
  if (format.toLowerCase() === 'parquet') return directory.replace(/\/+$/, '');
  throw illegalArgument(`Cannot add files of format ${format}`, 'only Parquet files can be added');
}

/** Data files below a directory; what is hidden (`_`, `.`) is none. @throws AnalysisException when there are too many. */
export async function sourceFiles(files: TableFiles, directory: string, signal: AbortSignal | undefined): Promise<readonly SourceFile[]> {
  const found: SourceFile[] = [];
  for await (const { location, sizeBytes } of files.list(directory, signal)) {
    throwIfAborted(signal);
    const segments = location.slice(directory.length + 1).split('/');
    if (segments.some((segment) => /^[_.]/.test(segment) && !segment.includes('='))) continue;
    found.push({ location, sizeBytes, partition: new Map(segments.slice(0, -1).flatMap(partitionItem)) });
    if (found.length > maxFiles)
      throw illegalArgument(`there are more than ${maxFiles} files below ${directory}`, 'add them by partition_filter');
  }
  return found.toSorted((a, b) => Buffer.compare(Buffer.from(a.location), Buffer.from(b.location)));
}

function partitionItem(segment: string): readonly (readonly [string, string | undefined])[] {
  const at = segment.indexOf('=');
  if (at <= 0) return [];
  const value = unescaped(segment.slice(at + 1));
  return [[unescaped(segment.slice(0, at)), value === nullSegment ? undefined : value]];
}

/** As Hive writes names of directories. */
function unescaped(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
