import { isServiceError } from '../base/errors.ts';
import { StoredFeedHolds } from '../cdf/feed-holds.ts';
import { feedSpecsOf } from '../cdf/feed-spec.ts';
import { PositionStore } from '../cdf/position-store.ts';
import { CappedHolds, type HoldState } from '../maintenance/capped-holds.ts';
import type { RetentionHold } from '../protocol/table-events.ts';
import { nextVersion, toVersion } from '../table/version.ts';
import type { Components } from './components.ts';

type HoldParts = Pick<Components, 'config' | 'kafka' | 'clock' | 'catalog'>;

/**
 * What keeps maintenance from deleting: feeds and other readers, as the positions topics tell of them, and a twin, as it tells itself: the same answer in
 * every process.
 */
export function tableHolds(
  parts: HoldParts,
  onLook: (table: string, holds: readonly HoldState[]) => Promise<void> | void = () => undefined,
): CappedHolds {
  const { config, kafka, clock, catalog } = parts;
  const feeds = new StoredFeedHolds({
    feeds: feedSpecsOf(config),
    positionsTopic: config.positionsTopic,
    admin: kafka.admin,
    openStore: (topic) => new PositionStore({ client: kafka, clock, topic }),
  });
  return new CappedHolds({
    holdsOf: async (table) => [...(await feeds.holds(table, await tableIdOf(parts, table))), ...(await neededByTwin(parts, table))],
    load: (table) => catalog.load(table),
    settings: config.maintenance.feedHold,
    clock,
    onLook,
  });
}

async function tableIdOf({ catalog }: HoldParts, table: string): Promise<string | undefined> {
  try {
    return (await (await catalog.load(table)).refresh()).tableId;
  } catch (error) {
    if (isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}

/** What a version after the oldest one shown has removed is still shown. A twin that shows nothing yet may be about to show anything. */
async function neededByTwin({ config, catalog }: HoldParts, table: string): Promise<readonly RetentionHold[]> {
  const settings = config.tables.find(({ twinOf }) => twinOf === table);
  if (settings === undefined) return [];
  const hold = { by: `twin ${settings.name}`, releasable: false };
  try {
    const shown = await (await catalog.load(settings.name)).twin?.oldestShown();
    return [{ ...hold, fromVersion: shown === undefined ? toVersion(0) : nextVersion(shown) }];
  } catch (error) {
    if (isServiceError(error, 'not-found')) return [{ ...hold, fromVersion: toVersion(0) }];
    throw error;
  }
}
