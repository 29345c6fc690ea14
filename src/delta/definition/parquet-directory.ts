import { AnalysisException } from '../../base/analysis-exception.ts';
import type { ObjectInfo, ObjectStore } from '../../storage/object-store.ts';
import { isHidden } from '../operations/vacuum/vacuum-listing.ts';

/** More files than this are not taken into one version. */
const maxFiles = 1_000_000;
/** What Hive calls the folder of the partition without a value. */
const nullFolder = '__HIVE_DEFAULT_PARTITION__';

export interface DirectoryFile extends ObjectInfo {
  /** Texts of the folders on the way, in the order of the partition columns; `undefined` is null. */
  readonly partition: readonly (string | undefined)[];
}

/**
 * The visible files of a directory whose folders spell partition values (`column=value`), by path.
 *
 * @throws AnalysisException `DELTA_EMPTY_DIRECTORY` (42K03), `DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME`,
 * `DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME` (KD009) when folders spell other columns than those named.
 */
export async function listDirectory(
  store: ObjectStore,
  partitionColumns: readonly string[],
  signal?: AbortSignal,
): Promise<readonly DirectoryFile[]> {
  const files: DirectoryFile[] = [];
  for await (const object of store.list({ prefix: '' }, signal)) {
    if (isHidden(object.path, partitionColumns)) continue;
    files.push({ ...object, partition: partitionOf(object.path, store.root, partitionColumns) });
    if (files.length > maxFiles) throw tooMany(store.root);
  }
  if (files.length > 0) return files;
  throw new AnalysisException({
    errorClass: 'DELTA_EMPTY_DIRECTORY',
    kind: 'not-found',
    message: `No file found in the directory: ${store.root}.`,
    parameters: { directory: store.root },
    hint: 'name the directory that holds the Parquet files',
  });
}

function partitionOf(path: string, root: string, expected: readonly string[]): readonly (string | undefined)[] {
  const folders = path.split('/').slice(0, -1);
  const parsed = folders.flatMap((folder) => {
    const equals = folder.indexOf('=');
    return equals <= 0 ? [] : [{ column: unescaped(folder.slice(0, equals)), value: unescaped(folder.slice(equals + 1)) }];
  });
  const file = `${root}/${path}`;
  if (parsed.length !== expected.length)
    throw wrongCount(
      expected,
      parsed.map(({ column }) => column),
      file,
    );
  return parsed.map(({ column, value }, index) => {
    const name = expected[index] ?? '';
    if (column.toLowerCase() !== name.toLowerCase()) throw wrongColumn(name, column, file);
    return value === nullFolder || value === '' ? undefined : value;
  });
}

/** Hive writes characters a file system or a URI may not like as `%XX`. */
function unescaped(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function quoted(names: readonly string[]): string {
  return `[${names.map((name) => `\`${name}\``).join(', ')}]`;
}

function wrongCount(expected: readonly string[], parsed: readonly string[], path: string): AnalysisException {
  const parameters = {
    expectedColsSize: String(expected.length),
    expectedCols: quoted(expected),
    parsedColsSize: String(parsed.length),
    parsedCols: quoted(parsed),
    path,
  };
  return new AnalysisException({
    errorClass: 'DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME',
    parameters,
    message:
      `Expecting ${expected.length} partition column(s): ${parameters.expectedCols}, but found ${parsed.length} partition column(s): ` +
      `${parameters.parsedCols} from parsing the file name: ${path}`,
    hint: 'name all partition columns in PARTITIONED BY, with their types, in the order of the folders',
  });
}

function wrongColumn(expectedCol: string, parsedCol: string, path: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME',
    parameters: { expectedCol: `\`${expectedCol}\``, parsedCol: `\`${parsedCol}\``, path },
    message: `Expecting partition column \`${expectedCol}\`, but found partition column \`${parsedCol}\` from parsing the file name: ${path}`,
    hint: 'name the partition columns in the order of the folders',
  });
}

function tooMany(root: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CONVERT_TOO_MANY_FILES',
    message: `${root} holds more than ${maxFiles} files`,
    hint: 'convert parts of it, or write the rows into a table',
  });
}
