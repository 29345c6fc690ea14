import { fileBuckets, secondsBuckets } from './buckets.ts';
import type { Count, Distribution, InstrumentMaker, Level } from './instruments.ts';

/** Of keyed tables. */
export interface KeyedMetrics {
  /** `change`: inserted, updated, deleted, late. */
  readonly keyedRows: Count<'table' | 'change'>;
  readonly keyLookupSeconds: Distribution<'table'>;
  readonly keyLookupFiles: Distribution<'table'>;
  readonly keyIndexRows: Level<'table'>;
  readonly keyIndexBytes: Level<'table'>;
  readonly keyIndexFailures: Count<'table' | 'what'>;
  readonly tombstones: Level<'table'>;
}

export function createKeyedMetrics(make: InstrumentMaker): KeyedMetrics {
  const table = ['table'] as const;
  return {
    keyedRows: make.count({
      name: 'keyed_rows_total',
      help: 'Rows that commits of a keyed table changed: inserted, updated, deleted; and late: keys of which the table had a later row, or remembered a later delete.',
      labels: [...table, 'change'],
    }),
    keyLookupSeconds: make.distribution(
      { name: 'key_lookup_seconds', help: 'Time to find the rows of the keys of one commit of a keyed table.', labels: table },
      secondsBuckets,
    ),
    keyLookupFiles: make.distribution(
      {
        name: 'key_lookup_files',
        help: 'Data files that were read to find the rows of the keys of one commit of a keyed table.',
        labels: table,
      },
      fileBuckets,
    ),
    keyIndexRows: make.level({
      name: 'key_index_rows',
      help: 'Rows of a keyed table that its index on local disk has, those included of files that are gone.',
      labels: table,
    }),
    keyIndexBytes: make.level({ name: 'key_index_bytes', help: 'Size on disk of the index of a keyed table.', labels: table }),
    keyIndexFailures: make.count({
      name: 'key_index_failures_total',
      help: 'What the index of a keyed table could not do, and went without: open, read, add, tidy.',
      labels: [...table, 'what'],
    }),
    tombstones: make.level({
      name: 'tombstones',
      help: 'Deletes of keys of a keyed table that are remembered against late records.',
      labels: table,
    }),
  };
}
