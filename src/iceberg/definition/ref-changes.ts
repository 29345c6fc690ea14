import type { RefChange } from '../../table/definition-changes.ts';
import { snapshotById } from '../ancestry.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import type { SnapshotRef, TableMetadata } from '../metadata/table-metadata.ts';
import { mainBranch } from '../snapshot-state-of.ts';
import { refusedDefinition } from './definition-errors.ts';

/**
 * Updates that make, move or remove a branch or tag; none when it is as asked. `undefined`: the branch is to start empty, which takes a
 * snapshot.
 *
 * @throws AnalysisException `ICEBERG_DEFINITION_REFUSED` in the words of other implementations.
 */
export function refUpdates(metadata: TableMetadata, change: RefChange): readonly MetadataUpdate[] | undefined {
  return change.kind === 'drop-ref' ? dropRef(metadata, change) : createRef(metadata, change);
}

function dropRef({ refs }: TableMetadata, { ref, name, ifExists }: Extract<RefChange, { kind: 'drop-ref' }>): readonly MetadataUpdate[] {
  if (name === mainBranch) throw refusedDefinition('Cannot remove main branch');
  const known = refs.get(name);
  if (known === undefined && ifExists) return [];
  checkType(name, known, ref);
  return [{ action: 'remove-snapshot-ref', refName: name }];
}

function createRef(metadata: TableMetadata, change: Extract<RefChange, { kind: 'create-ref' }>): readonly MetadataUpdate[] | undefined {
  const { ref: type, name, mode } = change;
  checkRetention(change);
  const known = metadata.refs.get(name);
  if (known !== undefined && mode === 'create') throw refusedDefinition(`Ref ${name} already exists`, 'CREATE OR REPLACE moves it');
  if (known !== undefined && mode === 'create-if-absent') return [];
  if (mode === 'replace' || known !== undefined) checkType(name, known, type);
  if (name === mainBranch && type === 'tag') throw refusedDefinition('main must be a branch, not a tag');
  const snapshotId = change.snapshotId ?? metadata.refs.get(mainBranch)?.snapshotId ?? metadata.currentSnapshotId;
  if (snapshotId === undefined) {
    if (type === 'branch') return undefined;
    throw refusedDefinition(`Cannot complete create or replace tag operation on ${name}, main has no snapshot`, 'write rows first');
  }
  if (snapshotById(metadata, snapshotId) === undefined) throw refusedDefinition(`Cannot set ${name} to unknown snapshot: ${snapshotId}`);
  return [{ action: 'set-snapshot-ref', refName: name, ref: refOf(change, snapshotId, known) }];
}

/** What is not said of a ref that is moved stays. */
function refOf(change: Extract<RefChange, { kind: 'create-ref' }>, snapshotId: bigint, known: SnapshotRef | undefined): SnapshotRef {
  return {
    ...known,
    type: change.ref,
    snapshotId,
    minSnapshotsToKeep: change.minSnapshotsToKeep ?? known?.minSnapshotsToKeep,
    maxSnapshotAgeMs: change.maxSnapshotAgeMs ?? known?.maxSnapshotAgeMs,
    maxRefAgeMs: change.maxRefAgeMs ?? known?.maxRefAgeMs,
  };
}

function checkType(name: string, known: SnapshotRef | undefined, type: 'branch' | 'tag'): void {
  if (known === undefined) throw refusedDefinition(`${type === 'branch' ? 'Branch' : 'Tag'} does not exist: ${name}`);
  if (known.type !== type) throw refusedDefinition(`Ref ${name} is a ${known.type} not a ${type}`);
}

function checkRetention(change: Extract<RefChange, { kind: 'create-ref' }>): void {
  const { minSnapshotsToKeep, maxSnapshotAgeMs, maxRefAgeMs } = change;
  if (change.ref === 'tag' && minSnapshotsToKeep !== undefined) throw refusedDefinition('Tags do not support setting minSnapshotsToKeep');
  if (change.ref === 'tag' && maxSnapshotAgeMs !== undefined) throw refusedDefinition('Tags do not support setting maxSnapshotAgeMs');
  if (minSnapshotsToKeep !== undefined && minSnapshotsToKeep <= 0) throw refusedDefinition('Min snapshots to keep must be greater than 0');
  if (maxSnapshotAgeMs !== undefined && maxSnapshotAgeMs <= 0n) throw refusedDefinition('Max snapshot age must be greater than 0 ms');
  if (maxRefAgeMs !== undefined && maxRefAgeMs <= 0n) throw refusedDefinition('Max reference age must be greater than 0 ms');
}
