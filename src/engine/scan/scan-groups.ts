import { serviceError } from '../../base/errors.ts';
import type { FileLayout, FileScan, ScanFile } from '../../table/scan.ts';

/** A file of a scan, with its place in it. */
export interface PlacedFile {
  readonly file: ScanFile;
  readonly index: number;
  /** Local; empty for a file whose rows are given. */
  readonly path: string;
}

/** Files of a scan that are read by one query. */
export interface ScanGroup {
  readonly layout: FileLayout;
  /** Rows are given: the engine does not open the files. */
  readonly given: boolean;
  readonly files: readonly PlacedFile[];
}

// Each is a branch of the query.
const maxGroups = 1_000;

/** The files of a scan by their layout and by how their rows come. @throws ServiceError `SCAN_TOO_VARIED` (unsupported). */
export function scanGroups(scan: FileScan, paths: readonly string[]): readonly ScanGroup[] {
  const groups = new Map<FileLayout, { readonly opened: PlacedFile[]; readonly given: PlacedFile[] }>();
  for (const [index, file] of scan.files.entries()) {
    const layout = file.layout ?? scan;
    const group = groups.get(layout) ?? { opened: [], given: [] };
    groups.set(layout, group);
    (file.rows === undefined ? group.opened : group.given).push({ file, index, path: paths[index] ?? '' });
  }
  if (groups.size > maxGroups) {
    throw serviceError.unsupported('SCAN_TOO_VARIED', `the files of the scan have ${groups.size} shapes, more than ${maxGroups}`, {
      hint: 'rewrite the data files of the table',
    });
  }
  return [...groups].flatMap(([layout, { opened, given }]) => [
    ...(opened.length === 0 ? [] : [{ layout, given: false, files: opened }]),
    ...(given.length === 0 ? [] : [{ layout, given: true, files: given }]),
  ]);
}

/** Whether all files have the same partition values: then they need no table. */
export function samePartitionValues(group: ScanGroup): boolean {
  const first = group.files[0]?.file;
  return group.files.every(({ file }) =>
    group.layout.partitionColumns.every((name) => file.partitionValues[name] === first?.partitionValues[name]),
  );
}

/** Engine SQL of a row's place: `file` is the index in the scan. The files are `f`. */
export function placeSql(group: ScanGroup): { readonly file: string; readonly position: string } {
  if (group.given) return { file: 'f.file', position: 'f.pos' };
  const indices = group.files.map(({ index }) => index);
  const first = indices[0] ?? 0;
  const local = 'f.file_index::BIGINT';
  const position = 'f.file_row_number';
  if (indices.every((index, at) => index === first + at)) return { file: first === 0 ? local : `(${local} + ${first})`, position };
  return { file: `CAST([${indices.join(', ')}] AS BIGINT[])[${local} + 1]`, position };
}
