import type { TableDetail } from '../table/definition-changes.ts';
import type { DeltaSnapshot } from './delta-snapshot.ts';

/** What DESCRIBE DETAIL shows of the snapshot. */
export function tableDetail(snapshot: DeltaSnapshot, location: string): TableDetail {
  void snapshot;
  throw new TypeError(location);
}
