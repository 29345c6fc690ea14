import { join, resolve } from 'node:path';
import type { CommitObserver } from '../commit/commit-observer.ts';
import { forgetKeys, takeKeys } from '../commit/keyed/take-keys.ts';
import { forgetTombstones, takeTombstones } from '../commit/keyed/take-tombstones.ts';
import { TombstoneTable } from '../commit/keyed/tombstone-table.ts';
import { createdWith } from '../config/start-checks.ts';
import type { TableSettings } from '../config/table-settings.ts';
import { LocalKeyIndex } from '../rows/key-index/local-key-index.ts';
import type { Table } from '../table/table.ts';
import type { Components } from './components.ts';
import type { KeyedTotals } from './observe/keyed-totals.ts';

/** The index of a keyed table, which its caller closes; `undefined`: it has none. */
export function keyIndexOf(
  { config, logger, metrics, clock, ids, failpoint }: Components,
  { name, keyed }: TableSettings,
  totals: KeyedTotals | undefined,
): LocalKeyIndex | undefined {
  const settings = config.commit.keyIndex;
  if (keyed === undefined || !settings.enabled) return undefined;
  const root = settings.directory ?? join(config.dataDir, 'key-index');
  return new LocalKeyIndex({
    directory: resolve(root, encodeURIComponent(config.pipeline), encodeURIComponent(name)),
    ...{ settings, ids, clock, failpoint },
    observer: {
      changed: (size) => {
        totals?.indexed(size);
        metrics.commit.keyIndexRows.set(size.entries, { table: name });
        metrics.commit.keyIndexBytes.set(size.bytes, { table: name });
      },
      failed: (what, error) => {
        metrics.commit.keyIndexFailures.add(1, { table: name, what });
        logger.warn('the key index is left alone for a while, keys are looked up in the table', { table: name, what, err: error });
      },
      full: (size) => {
        logger.warn('the key index takes in nothing more, it would be larger than commit.keyIndex.maxSize', { table: name, ...size });
      },
    },
  });
}

/**
 * Makes a table ready for rows by key, or for rows that are added where it was keyed before; gives what remembers its deleted keys, where that is asked
 * for.
 *
 * @throws what `takeKeys` and `takeTombstones` throw.
 */
export async function takeForIngest(
  components: Components,
  { name, keyed }: TableSettings,
  { table, observer, totals }: { readonly table: Table; readonly observer: CommitObserver; readonly totals: KeyedTotals | undefined },
  signal?: AbortSignal,
): Promise<TombstoneTable | undefined> {
  if (keyed === undefined) await forgetKeys(table, signal);
  else {
    const rows = Number(await takeKeys(table, keyed, signal));
    if (rows > 0) components.logger.warn('rows of keys that others had too were deleted', { table: name, rows });
  }
  if (keyed?.tombstones === undefined) {
    await forgetTombstones(table, signal);
    return undefined;
  }
  const { catalog, config, metrics, clock, random, failpoint, openEngine } = components;
  const { keyColumns, orderColumns, tombstones } = keyed;
  const settings = config.tables.find((each) => each.name === tombstones.table);
  const properties = settings === undefined ? {} : createdWith(settings, config).properties;
  const companion = await takeTombstones({ table, catalog, name: tombstones.table, properties, keyColumns, orderColumns }, signal);
  totals?.remembers(companion.name, undefined);
  return new TombstoneTable({
    ...{ table: companion, clock, random, failpoint, observer },
    retentionMs: tombstones.retentionMs,
    engine: openEngine,
    settings: config.commit,
    onRows: (rows) => {
      totals?.remembers(companion.name, rows);
      if (rows !== undefined) metrics.commit.tombstones.set(rows, { table: name });
    },
  });
}
