import { isJsonObject, type JsonObject, type JsonValue } from '../../base/bigint-json.ts';
import { JsonMembers } from './json-members.ts';
import { unknownMembers } from './schema-json.ts';
import { invalidMetadata } from './spec-errors.ts';
import type { PartitionStatisticsFile, StatisticsFile } from './table-metadata.ts';

/** https://iceberg.apache.org/spec/#table-statistics @throws ServiceError `ICEBERG_METADATA_INVALID` (kind corrupt). */
export function statisticsFromJson(json: JsonValue | undefined, where: string): StatisticsFile {
  const members = new JsonMembers(json, `${where}: statistics`);
  return {
    snapshotId: members.long('snapshot-id'),
    statisticsPath: members.text('statistics-path'),
    fileSizeInBytes: members.long('file-size-in-bytes'),
    fileFooterSizeInBytes: members.long('file-footer-size-in-bytes'),
    keyMetadata: members.optionalText('key-metadata'),
    blobMetadata: members.list('blob-metadata').map((blob) => {
      if (isJsonObject(blob)) return blob;
      throw invalidMetadata(where, 'statistics: cannot parse blob metadata from non-object');
    }),
    ...unknownMembers(members.rest),
  };
}

/** Inverse of `statisticsFromJson`. */
export function statisticsToJson(file: StatisticsFile): JsonObject {
  return {
    'snapshot-id': file.snapshotId,
    'statistics-path': file.statisticsPath,
    'file-size-in-bytes': file.fileSizeInBytes,
    'file-footer-size-in-bytes': file.fileFooterSizeInBytes,
    'key-metadata': file.keyMetadata,
    'blob-metadata': file.blobMetadata,
    ...file.unknown,
  };
}

/** https://iceberg.apache.org/spec/#partition-statistics @throws ServiceError `ICEBERG_METADATA_INVALID` (kind corrupt). */
export function partitionStatisticsFromJson(json: JsonValue | undefined, where: string): PartitionStatisticsFile {
  const members = new JsonMembers(json, `${where}: partition statistics`);
  return {
    snapshotId: members.long('snapshot-id'),
    statisticsPath: members.text('statistics-path'),
    fileSizeInBytes: members.long('file-size-in-bytes'),
    ...unknownMembers(members.rest),
  };
}

/** Inverse of `partitionStatisticsFromJson`. */
export function partitionStatisticsToJson(file: PartitionStatisticsFile): JsonObject {
  return {
    'snapshot-id': file.snapshotId,
    'statistics-path': file.statisticsPath,
    'file-size-in-bytes': file.fileSizeInBytes,
    ...file.unknown,
  };
}
