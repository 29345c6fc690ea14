import type { FeedPosition } from '../protocol/change-event.ts';
import type { ReadableTable, Snapshot } from '../table/table.ts';
import { nextVersion } from '../table/version.ts';

/** By the names of the states that a process which publishes the feed would be in. */
export type TableStanding = 'table-gone' | 'table-replaced' | 'gap';

/** A table as it is now. */
export interface TableNow {
  readonly table: Pick<ReadableTable, 'history' | 'linkAt'>;
  readonly newest: Snapshot;
}

/**
 * What keeps a feed from going on at its position, as far as that can be told without reading changes: there is no table, another one has its name, or
 * it was put back to before the position.
 */
export async function standingOfTable(
  now: TableNow | undefined,
  position: FeedPosition,
  signal?: AbortSignal,
): Promise<TableStanding | undefined> {
  if (now === undefined) return 'table-gone';
  const { table, newest } = now;
  if (newest.tableId !== position.tableId) return 'table-replaced';
  if (newest.version < position.version) return 'gap';
  const link = position.link === undefined ? undefined : await table.linkAt?.(position.version, signal);
  if (link !== undefined && link !== position.link) return 'gap';
  // Where versions have identities of their own, numbers that were taken back are left out.
  const mayLeaveOut =
    newest.snapshotId !== undefined && position.link !== undefined && position.complete && newest.version > position.version;
  if (!mayLeaveOut) return undefined;
  const following = (await table.history({ fromVersion: nextVersion(position.version) }, signal)).at(-1);
  return following?.previous !== undefined && following.previous < position.version ? 'gap' : undefined;
}

/** What is the matter, with the cure. */
export function problemOf(standing: TableStanding, table: string): string {
  const problems: Readonly<Record<TableStanding, string>> = {
    'table-gone': `table "${table}" is not there; the feed goes on when it is put back`,
    'table-replaced': `another table is called "${table}" now; set onTableReplaced, or reset the feed`,
    gap: `table "${table}" was put back to before what is published; set onGap, or reset the feed`,
  };
  return problems[standing];
}
