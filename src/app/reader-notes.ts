import { isServiceError } from '../base/errors.ts';
import type { HoldState } from '../maintenance/capped-holds.ts';
import type { Components } from './components.ts';
import { tableHolds } from './table-holds.ts';

const lookIntervalMs = 60_000;
/** Until the table is there. */
const firstLookIntervalMs = 5_000;

type NoteParts = Pick<Components, 'config' | 'kafka' | 'clock' | 'catalog'>;

/**
 * Notes beside a table who holds it back, for those who delete and ask no broker: sessions. What is let go of by the settings is not noted.
 *
 * @throws what the storage throws.
 */
export async function noteHolds(
  { config, catalog }: Pick<NoteParts, 'config' | 'catalog'>,
  table: string,
  holds: readonly HoldState[],
): Promise<void> {
  const readers = holds.filter(({ isReleased, releasable }) => releasable && !isReleased);
  await (await catalog.load(table)).noteReaders({ pipeline: config.pipeline, table, readers });
}

/** Looks who reads the table, and notes it; false: the table is not there, and has no readers. */
export async function noteReaders(parts: NoteParts, table: string): Promise<boolean> {
  try {
    await tableHolds(parts, (name, holds) => noteHolds(parts, name, holds)).look(table);
    return true;
  } catch (error) {
    if (!isServiceError(error, 'not-found')) throw error;
    return false;
  }
}

/** Notes the readers of the tables that have feeds until the signal fires; never rejects. */
export async function keepReadersNoted(
  parts: NoteParts & Pick<Components, 'logger'>,
  tables: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let all = true;
    for (const table of tables) {
      const noted = await noteReaders(parts, table).catch((error: unknown) => {
        parts.logger.debug('readers not noted', { table, err: error });
        return false;
      });
      all &&= noted;
    }
    await parts.clock.sleep(all ? lookIntervalMs : firstLookIntervalMs, signal).catch(() => undefined);
  }
}
