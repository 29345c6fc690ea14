import { present } from '../base/assert.ts';
import { buildBatch } from '../codec/build-columns.ts';
import type { Column, ColumnBatch } from '../schema/columns.ts';
import type { StructType } from '../schema/types.ts';
import type { ChangeFile } from '../table/changes.ts';
import { isConstant, partitionColumn } from './partition-column.ts';

/** A column of some rows, or of the one value that all rows have. */
export interface RowsColumn {
  readonly column: Column;
  readonly constant: boolean;
}

export interface RowsBatch {
  readonly firstRow: number;
  readonly untilRow: number;
  /** In the order of the schema. */
  readonly columns: readonly RowsColumn[];
}

/** Rows of one file, counted over its batches: every column of the table, partition columns filled in from the log. */
export interface PieceRows {
  readonly schema: StructType;
  readonly rowCount: number;
  readonly batches: readonly RowsBatch[];
}

/** @throws ServiceError `CDF_PARTITION_VALUE_INVALID` (kind corrupt). */
export function pieceRows(options: {
  readonly schema: StructType;
  readonly file: ChangeFile;
  readonly batches: readonly ColumnBatch[];
}): PieceRows {
  const { schema, file } = options;
  const constants = new Map<string, RowsColumn>();
  for (const field of schema.fields) {
    if (!isConstant(file, field.name)) continue;
    constants.set(field.name, { column: partitionColumn(field, file.partitionValues[field.name]), constant: true });
  }
  let rowCount = 0;
  const batches = options.batches.map((batch) => {
    const columns = columnsOf(schema, batch, constants);
    const firstRow = rowCount;
    rowCount += batch.rowCount;
    return { firstRow, untilRow: rowCount, columns };
  });
  return { schema, rowCount, batches };
}

/** No row, for what is told of no row but tells the columns. */
export function noRows(schema: StructType): PieceRows {
  const columns = buildBatch(schema, []).columns.map((column) => ({ column, constant: false }));
  return { schema, rowCount: 0, batches: [{ firstRow: 0, untilRow: 0, columns }] };
}

function columnsOf(schema: StructType, batch: ColumnBatch, constants: ReadonlyMap<string, RowsColumn>): readonly RowsColumn[] {
  const columnOf = new Map(batch.schema.fields.map((field, position) => [field.name, batch.columns[position]]));
  return schema.fields.map(({ name }) => {
    const constant = constants.get(name);
    return constant ?? { column: present(columnOf.get(name), `column "${name}" was read`), constant: false };
  });
}
