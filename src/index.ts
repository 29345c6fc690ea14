export type { FeedSummary } from './app/feed-summaries.ts';
export { changes, freshness, openTable, rows } from './app/library.ts';
export { type OpenedFeeds, type OpenFeedsOptions, openFeeds } from './app/open-feeds.ts';
export type { FeedActOptions, FeedActReport, PipelineFeeds, ResetTarget } from './app/pipeline-feeds.ts';
export { createSession, Session, SessionBuilder, type SessionOptions } from './app/session.ts';
export { AnalysisException, ParseException, type TextPosition } from './base/analysis-exception.ts';
export { type ErrorKind, isServiceError, ServiceError } from './base/errors.ts';
export type { JsonObject, JsonValue } from './base/json-value.ts';
export type { OffsetTrace, SourceOffset, TracedVersion, TraceRequest } from './commit/offset-trace.ts';
export {
  ConcurrentAppendException,
  ConcurrentDeleteDeleteException,
  ConcurrentDeleteReadException,
  ConcurrentTransactionException,
  ConcurrentWriteException,
  DeltaConcurrentModificationException,
  MetadataChangedException,
  ProtocolChangedException,
} from './delta/transaction/concurrent-modification.ts';
export type { ParameterValue, ParameterValues } from './expr/bind-parameters.ts';
export type { DataType, Field, StructType } from './schema/types.ts';
export { Column, type ColumnOrName, type ColumnOrValue, type LiteralValue } from './session/column.ts';
export { type ActionOptions, DataFrame } from './session/data-frame.ts';
export type { ConditionInput, SetInput } from './session/delta-inputs.ts';
export { DeltaMergeBuilder, type MergeSet, type MergeValues } from './session/delta-merge-builder.ts';
export { type ColumnOptions, DeltaTableBuilder } from './session/delta-table-builder.ts';
export { DeltaOptimizeBuilder, DeltaTable } from './session/delta-table-handle.ts';
export * as functions from './session/functions.ts';
export { col, column, expr, lit, when } from './session/functions.ts';
export { GroupedData } from './session/grouped-data.ts';
export { DataFrameReader } from './session/read/data-frame-reader.ts';
export type { Row, RowInput, RowInputValue, RowValue } from './session/rows/row.ts';
export type { Explanation } from './session/run/actions.ts';
export type { TableRead } from './session/run/execution.ts';
export { DataStreamReader } from './session/streaming/data-stream-reader.ts';
export { DataStreamWriter, type ForeachBatch, type TriggerOptions } from './session/streaming/data-stream-writer.ts';
export { StreamingQueryException } from './session/streaming/stream-failed.ts';
export type { SourceProgress, StreamingQueryProgress } from './session/streaming/stream-progress.ts';
export { StreamingQuery, type StreamingQueryStatus } from './session/streaming/streaming-query.ts';
export { Window, WindowSpec } from './session/window.ts';
export { DataFrameWriter } from './session/write/data-frame-writer.ts';
export { DataFrameWriterV2 } from './session/write/data-frame-writer-v2.ts';
export type { WriteResult } from './table/row-operations.ts';
export type { HistoryEntry, QueryableTable, Snapshot, Table, TableDefinition } from './table/table.ts';
export type { OpenTableOptions } from './table/table-formats.ts';
