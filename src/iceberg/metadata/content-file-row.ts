import type { InputRow } from '../../codec/build-columns.ts';
import type { ContentFile } from './content-file.ts';

const contentCodes = { data: 0, 'position-deletes': 1, 'equality-deletes': 2 } as const;

/**
 * What manifests and metadata tables say of a file, by the spec's names: every column there is in any format version, schemas take those they
 * have. `own`: what one says and not the other, or otherwise.
 */
export function contentFileRow(file: ContentFile, own: InputRow): InputRow {
  return {
    content: contentCodes[file.content],
    file_path: file.path,
    file_format: file.format.toUpperCase(),
    record_count: file.recordCount,
    file_size_in_bytes: file.fileSizeBytes,
    column_sizes: file.columnSizes,
    value_counts: file.valueCounts,
    null_value_counts: file.nullValueCounts,
    nan_value_counts: file.nanValueCounts,
    lower_bounds: file.lowerBounds,
    upper_bounds: file.upperBounds,
    key_metadata: file.keyMetadata,
    split_offsets: file.splitOffsets,
    equality_ids: file.equalityIds,
    sort_order_id: file.sortOrderId,
    first_row_id: file.firstRowId,
    referenced_data_file: file.referencedDataFile,
    content_offset: file.contentOffset,
    content_size_in_bytes: file.contentSizeBytes,
    ...own,
  };
}
