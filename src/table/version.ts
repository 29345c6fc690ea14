import { assert } from '../base/assert.ts';
import type { Branded } from '../base/brand.ts';

/** Position in one table's commit order: Delta's log version, Iceberg's sequence number. */
export type Version = Branded<number, 'Version'>;

export function toVersion(value: number): Version {
  assert(Number.isSafeInteger(value) && value >= -1, `version ${value} is not an integer from -1 up`);
  return value as Version;
}

/** Before the first version of a table. */
export const beforeFirstVersion: Version = toVersion(-1);

export function nextVersion(version: Version): Version {
  return toVersion(version + 1);
}
