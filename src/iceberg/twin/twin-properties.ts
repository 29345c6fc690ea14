/** Table property that makes a table a twin: the id of its leader, to which its data files belong. */
export const leaderProperty = 'tidewater.leader';
/** Where the leader, and with it the data files, lies: a place that the table refers to and deletes nothing in. */
export const leaderLocationProperty = 'tidewater.leader.location';
/** The version that the last snapshot of the twin's own shows, for when snapshots are expired: as `shownKeys` in summaries. */
export const shownProperty = 'tidewater.leader.shown';

/** Summary entries of the snapshots that a twin makes. */
export const shownKeys = {
  tableId: 'tidewater.leader-id',
  version: 'tidewater.leader-version',
  versionId: 'tidewater.leader-version-id',
} as const;

/** Whether a table's data files are another's: nothing here may delete or rewrite them. */
export function isTwin(properties: Readonly<Record<string, string>>): boolean {
  return Object.hasOwn(properties, leaderProperty);
}
