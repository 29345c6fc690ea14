import { isJsonObject, parseJson, printJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { LeaderPoint } from '../../table/twin.ts';
import { toVersion, type Version } from '../../table/version.ts';
import { ancestorsOf } from '../ancestry.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import type { IcebergSnapshot, TableMetadata } from '../metadata/table-metadata.ts';
import { shownKeys, shownProperty } from './twin-properties.ts';

/** Which version of its leader a snapshot has the rows of. */
export interface ShownVersion {
  readonly tableId: string;
  readonly version: Version;
  readonly id: string;
}

/** What a snapshot that shows the point says of it, and the table with it. */
export function shownAs({ tableId, version, id }: LeaderPoint): {
  readonly summary: Readonly<Record<string, string>>;
  readonly update: MetadataUpdate;
} {
  const summary = { [shownKeys.tableId]: tableId, [shownKeys.version]: String(version), [shownKeys.versionId]: id };
  return { summary, update: { action: 'set-properties', updates: { [shownProperty]: printJson(summary) } } };
}

/** By the entries of a snapshot that the twin made. Others do not take them over. */
export function shownBy({ summary }: Pick<IcebergSnapshot, 'summary'>): ShownVersion | undefined {
  const { [shownKeys.tableId]: tableId, [shownKeys.version]: version, [shownKeys.versionId]: id } = summary;
  if (tableId === undefined || id === undefined || version === undefined || !/^\d{1,15}$/.test(version)) return undefined;
  return { tableId, version: toVersion(Number(version)), id };
}

/** By the property, which outlives the snapshots. */
export function lastShown({ properties }: TableMetadata): ShownVersion | undefined {
  const text = Object.hasOwn(properties, shownProperty) ? (properties[shownProperty] ?? '') : '';
  try {
    const json = parseJson(text, shownProperty);
    if (!isJsonObject(json)) return undefined;
    const entries = Object.entries(json).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : []));
    return shownBy({ summary: Object.fromEntries(entries) });
  } catch (error) {
    if (isServiceError(error, 'corrupt')) return undefined;
    throw error;
  }
}

/** Whether a snapshot may have other rows, or the same in other files, than the one before it. */
export function changesFiles({ summary }: IcebergSnapshot): boolean {
  if (summary['operation'] !== 'replace') return true;
  return fileCounts.some((key) => (summary[key] ?? '0') !== '0');
}

const fileCounts = ['added-data-files', 'deleted-data-files', 'added-delete-files', 'removed-delete-files'] as const;

/** The oldest version that any snapshot shows, 0 when one does not say which; `undefined` without snapshots. */
export function oldestShown(metadata: TableMetadata): Version | undefined {
  const shown = metadata.snapshots.map((snapshot): number => {
    for (const ancestor of ancestorsOf(metadata, snapshot)) {
      const found = shownBy(ancestor);
      if (found !== undefined) return found.version;
    }
    return 0;
  });
  return shown.length === 0 ? undefined : toVersion(shown.reduce((least, version) => Math.min(least, version)));
}
