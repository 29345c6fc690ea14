export { changes, openTable, rows } from './app/library.ts';
export { type ErrorKind, isServiceError, ServiceError } from './base/errors.ts';
export type { DataType, Field, StructType } from './schema/types.ts';
export type { HistoryEntry, Snapshot, Table, TableDefinition } from './table/table.ts';
