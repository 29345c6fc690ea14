import { nextVersion } from '../../table/version.ts';
import type { Action } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { effectiveMetadata } from './effective-definition.ts';

const property = 'delta.enableInCommitTimestamps';
/** Kept from when the table got in-commit timestamps, for versions before that have none. */
const enablement = {
  version: 'delta.inCommitTimestampEnablementVersion',
  timestamp: 'delta.inCommitTimestampEnablementTimestamp',
} as const;

/** The version's own time when the table has such times once the actions are committed: never behind the version before. */
export function inCommitTimestampOf(base: DeltaSnapshot, actions: readonly Action[], nowMs: number): number | undefined {
  if (!isOn(effectiveMetadata(base, actions).configuration)) return undefined;
  return Math.max(nowMs, base.committedAt + 1);
}

/** The actions, with the version and time of the switch where they switch in-commit timestamps on for a table that has older versions. */
export function withEnablement(base: DeltaSnapshot, actions: readonly Action[], timestampMs: number | undefined): readonly Action[] {
  if (timestampMs === undefined || base.version < 0 || isOn(base.metadata.configuration)) return actions;
  return actions.map((action) => {
    if (action.kind !== 'metaData') return action;
    const since = { [enablement.version]: String(nextVersion(base.version)), [enablement.timestamp]: String(timestampMs) };
    return { ...action, configuration: { ...action.configuration, ...since } };
  });
}

function isOn(configuration: Readonly<Record<string, string>>): boolean {
  return configuration[property]?.toLowerCase() === 'true';
}
