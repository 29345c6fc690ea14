import { outside } from '../../base/confinement.ts';
import type { Expression } from '../../expr/expression.ts';
import { comparePaths } from '../../storage/path.ts';
import type { ChangeFile } from '../../table/changes.ts';
import type { ChangeScan } from '../../table/scan.ts';
import type { AddFile, CdcFile, RemoveFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { TablePlace } from '../files/table-place.ts';
import { fileTest } from '../scan/select-files.ts';
import { isShredding } from '../table-features.ts';

/** Scans of changes as files for whoever reads them elsewhere, in the order their rows are numbered. */
export interface ScannedChanges {
  readonly place: TablePlace;
  readonly snapshot: DeltaSnapshot;
  readonly scans: readonly Pick<ChangeScan, 'kind' | 'scan'>[];
  /** Paths of files without a row that is wanted. */
  readonly ruledOut?: ReadonlySet<string> | undefined;
}

/** Paths of the files of which the condition is certainly true of no row. Of rows that come and rows that go alike: each is judged alone. */
export function ruledOutFiles(
  files: Iterable<AddFile | RemoveFile | CdcFile>,
  snapshot: DeltaSnapshot,
  condition: Expression | undefined,
): ReadonlySet<string> {
  const found = new Set<string>();
  if (condition === undefined) return found;
  const mayHold = fileTest(snapshot, condition);
  for (const file of files) {
    const { path, storedPath, partitionValues } = file;
    const stats = file.kind === 'cdc' ? undefined : file.stats;
    if (partitionValues !== undefined && !mayHold({ path, partitionValues, stats })) found.add(storedPath);
  }
  return found;
}

/**
 * Files of the table's own directory, with the rows of them that are changes.
 *
 * @throws ServiceError `FILE_OUTSIDE_TABLE` (invalid): feeds read the table's own directory alone, whatever a session may be allowed; what
 * reading deletion vectors throws.
 */
export async function changeFilesOf(changes: ScannedChanges, signal?: AbortSignal): Promise<readonly ChangeFile[]> {
  const { place, snapshot, scans, ruledOut } = changes;
  const byName = snapshot.mapping === 'none' && !isShredding(snapshot.protocol);
  const files: ChangeFile[] = [];
  for (const { kind, scan } of scans) {
    const { storedColumns, partitionColumns } = scan;
    const layout = byName ? {} : { layout: { storedColumns, partitionColumns } };
    for (const { sizeBytes, rowCount, partitionValues, ...rows } of scan.files) {
      const path = pathBelow(place, rows.path);
      const onlyRows = await rows.onlyRows?.(signal);
      const deletedRows = await rows.deletedRows?.(signal);
      if (onlyRows?.length === 0) continue;
      const left = rowCount === undefined ? undefined : rowCount - (deletedRows?.length ?? 0);
      const reading = ruledOut?.has(path) === true ? { ...layout, ruledOut: true as const } : layout;
      const found = { kind, path, sizeBytes, partitionValues, rowCount: onlyRows?.length ?? left, ...reading };
      files.push({ ...found, ...(onlyRows === undefined ? {} : { onlyRows }), ...(deletedRows === undefined ? {} : { deletedRows }) });
    }
  }
  return files.sort((a, b) => rank[a.kind] - rank[b.kind] || comparePaths(a.path, b.path));
}

/** Deletes before inserts, then by the UTF-8 bytes of the path: the same for every reader of the version. */
const rank: Readonly<Record<ChangeFile['kind'], number>> = { delete: 0, recorded: 1, insert: 2 };

function pathBelow(place: TablePlace, path: string): string {
  const root = place.root.endsWith('/') ? place.root : `${place.root}/`;
  if (!path.startsWith(root)) throw outside(path, place.within);
  return path.slice(root.length);
}
