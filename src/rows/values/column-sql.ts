import type { DataType, StructType } from '../../schema/types.ts';

/**
 * Engine SQL for a value as text in messages, spelled as the reference engines' rows print it: dates as days and timestamps as
 * microseconds since the epoch.
 */
export function shownSql(value: string, type: DataType | undefined): string {
  switch (type?.kind) {
    case 'date':
      return `CAST(date_diff('day', DATE '1970-01-01', ${value}) AS VARCHAR)`;
    case 'timestamp':
    case 'timestamp_ntz':
      return `CAST(epoch_us(${value}) AS VARCHAR)`;
    default:
      return `CAST(${value} AS VARCHAR)`;
  }
}

/** The type at the end of a path; `undefined` when there is none. */
export function typeAtPath(schema: StructType, path: readonly string[]): DataType | undefined {
  let type: DataType | undefined = schema;
  for (const name of path) type = type?.kind === 'struct' ? type.fields.find((field) => field.name === name)?.type : undefined;
  return type;
}
