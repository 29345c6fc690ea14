import { printJson } from '../base/bigint-json.ts';
import type { EncodeSpec } from '../protocol/change-event.ts';
import type { ReadableTable } from '../table/table.ts';
import type { FeedSettings } from './settings.ts';

/** One feed with the pipeline it belongs to. */
export interface FeedSpec extends FeedSettings {
  readonly pipeline: string;
}

/** The feeds of a configuration. */
export function feedSpecsOf({
  feeds,
  pipeline,
}: {
  readonly feeds: readonly FeedSettings[];
  readonly pipeline: string;
}): readonly FeedSpec[] {
  return feeds.map((feed) => ({ ...feed, pipeline }));
}

/** Stable identity of a feed: the key of its position. None of the parts can hold a slash. */
export function feedIdOf(spec: Pick<FeedSpec, 'pipeline' | 'table' | 'name'>): string {
  return `${spec.pipeline}/${spec.table}/${spec.name}`;
}

/** The same for every instance of the feed: opening it fences the one before. */
export function transactionalIdOf(spec: Pick<FeedSpec, 'pipeline' | 'table' | 'name'>): string {
  return `tidewater-${spec.pipeline}-${spec.table}-${spec.name}`;
}

/** What decides the row order inside a version: which rows pair up depends on the key. */
export function rowOrderOf(spec: Pick<FeedSpec, 'keyColumns'>): string {
  return printJson(spec.keyColumns);
}

/** What an encoder is told of the feed. */
export function encodeSpecOf(
  spec: FeedSpec,
  at: { readonly table: Pick<ReadableTable, 'format' | 'location'>; readonly tableId: string; readonly partitions: number },
): EncodeSpec {
  const { pipeline, envelope, records, schemas, select, where, topic, keyColumns, tombstones, compression, table } = spec;
  const [transactions, truncates] = [spec.transactions !== undefined, spec.truncate === 'event'];
  const { tableId, partitions } = at;
  const { format, location } = at.table;
  return {
    pipeline,
    envelope,
    records,
    schemas,
    select,
    where,
    topic,
    partitions,
    keyColumns,
    tombstones,
    transactions,
    truncates,
    compression,
    table,
    tableId,
    format,
    location,
  };
}
