/** Field ids of columns that the specification reserves (https://iceberg.apache.org/spec/#reserved-field-ids). */
export const positionDeleteIds = { path: 2147483546, position: 2147483545 } as const;
export const rowLineageIds = { rowId: 2147483540, lastUpdatedSequenceNumber: 2147483539 } as const;
/** Names of the row lineage columns. */
export const rowLineageNames = { rowId: '_row_id', lastUpdatedSequenceNumber: '_last_updated_sequence_number' } as const;
