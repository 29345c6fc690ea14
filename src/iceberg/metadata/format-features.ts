import type { TableMetadata } from './table-metadata.ts';

/** https://iceberg.apache.org/spec/#appendix-e-format-version-changes */
type Format = Pick<TableMetadata, 'formatVersion'>;

/** Rows can be marked as deleted by files of their own. */
export function hasDeleteFiles({ formatVersion }: Format): boolean {
  return formatVersion >= 2;
}

/** Deletion vectors take the place of position delete files. */
export function hasDeletionVectors({ formatVersion }: Format): boolean {
  return formatVersion >= 3;
}

/** Rows have ids, which they take along wherever they are moved. */
export function hasRowLineage({ formatVersion }: Format): boolean {
  return formatVersion >= 3;
}
