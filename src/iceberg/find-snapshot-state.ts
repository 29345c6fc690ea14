import { AnalysisException } from '../base/analysis-exception.ts';
import { floorDivide } from '../table/partitioning/calendar.ts';
import type { SnapshotPoint } from '../table/queries.ts';
import { snapshotById } from './ancestry.ts';
import type { LoadedMetadata } from './pointer/table-pointer.ts';
import { snapshotIdAt } from './snapshot-at.ts';
import type { SnapshotState } from './snapshot-state.ts';
import { snapshotNotFound, snapshotStateOf } from './snapshot-state-of.ts';

/**
 * The snapshot a read names. A snapshot id, a tag and a time are read by the snapshot's own schema, a branch by the current one.
 *
 * @throws AnalysisException `CANNOT_FIND_SNAPSHOT`, `CANNOT_FIND_REF` (kind not-found), in the words of the reference implementation.
 */
export function findSnapshotState(loaded: LoadedMetadata, point: SnapshotPoint): SnapshotState {
  const { metadata } = loaded;
  switch (point.kind) {
    case 'snapshot-id':
      return snapshotStateOf(loaded, { snapshotId: point.id });
    case 'branch':
      return snapshotStateOf(loaded, { branch: point.name });
    case 'tag':
      return snapshotStateOf(loaded, { tag: point.name });
    case 'timestamp': {
      const id = snapshotIdAt(metadata, Number(floorDivide(point.micros, 1_000n)));
      if (id === undefined || snapshotById(metadata, id) === undefined) throw noSnapshotBefore(point.micros);
      return snapshotStateOf(loaded, { snapshotId: id });
    }
    case 'version':
      return findVersion(loaded, String(point.version).trim());
  }
}

/** A number is a snapshot's id, anything else the name of a branch or tag. */
function findVersion(loaded: LoadedMetadata, version: string): SnapshotState {
  const ref = loaded.metadata.refs.get(version);
  const isId = /^-?\d{1,20}$/.test(version);
  if (isId && snapshotById(loaded.metadata, BigInt(version)) !== undefined) return snapshotStateOf(loaded, { snapshotId: BigInt(version) });
  if (ref !== undefined) return snapshotStateOf(loaded, ref.type === 'branch' ? { branch: version } : { tag: version });
  if (isId) throw snapshotNotFound(`Cannot find snapshot with ID ${version}`);
  throw new AnalysisException({
    errorClass: 'CANNOT_FIND_SNAPSHOT',
    kind: 'not-found',
    message: `Cannot find matching snapshot ID or reference name for version ${version}`,
    hint: `it has the branches and tags: ${[...loaded.metadata.refs.keys()].slice(0, 20).join(', ') || 'none'}`,
  });
}

function noSnapshotBefore(micros: bigint): AnalysisException {
  const ms = Number(floorDivide(micros, 1_000n));
  const time = Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString().replace(/\.000Z$|Z$/, '+00:00') : String(micros);
  return snapshotNotFound(`Cannot find a snapshot older than ${time}`);
}
