import { ancestorsOf, snapshotById } from '../../ancestry.ts';
import type { IcebergSnapshot, SnapshotRef, TableMetadata } from '../../metadata/table-metadata.ts';
import { mainBranch, versionOf } from '../../snapshot-state-of.ts';
import { illegalArgument } from '../operation-errors.ts';

/** Which snapshots may go. */
export interface ExpiryRules {
  readonly nowMs: number;
  /** Snapshots from before this time may go. Default: by `history.expire.max-snapshot-age-ms`, five days. */
  readonly olderThanMs?: number | undefined;
  /** Of each branch that many stay, whatever their age. Default: `history.expire.min-snapshots-to-keep`, one. */
  readonly retainLast?: number | undefined;
  /** Go whatever their age. */
  readonly snapshotIds?: readonly bigint[] | undefined;
  /** Versions of the main branch from this one on stay whatever their age, with all that their changes are worked out from. */
  readonly keepVersionsFrom?: number | undefined;
}

/** What expiry takes out of a table's metadata. */
export interface Expiry {
  readonly snapshots: readonly IcebergSnapshot[];
  /** Branches and tags that are past their own age. */
  readonly refs: readonly string[];
}

const defaultMaxSnapshotAgeMs = 432_000_000;

/**
 * The snapshots and references that go: of each branch those stay that are young enough, or among the newest; what a tag names stays; what
 * nothing refers to goes by its age. Pure.
 *
 * @throws AnalysisException `INVALID_ARGUMENT` for a snapshot that is asked to go and is still referred to.
 */
export function expiryOf(metadata: TableMetadata, rules: ExpiryRules): Expiry {
  const { properties, snapshots } = metadata;
  const olderThanMs = rules.olderThanMs ?? rules.nowMs - whole(properties, 'history.expire.max-snapshot-age-ms', defaultMaxSnapshotAgeMs);
  const retainLast = rules.retainLast ?? whole(properties, 'history.expire.min-snapshots-to-keep', 1);
  const maxRefAgeMs = whole(properties, 'history.expire.max-ref-age-ms', Number.POSITIVE_INFINITY);
  const refs = [...metadata.refs].filter(([name, ref]) => staysRef(metadata, name, ref, { nowMs: rules.nowMs, maxRefAgeMs }));
  const asked = new Set(rules.snapshotIds);
  refuseReferred(asked, refs);
  const kept = new Set(refs.map(([, ref]) => ref.snapshotId));
  const referred = new Set(kept);
  for (const [, head] of refs.filter(([, ref]) => ref.type === 'branch')) {
    const minimum = head.minSnapshotsToKeep ?? retainLast;
    const after = head.maxSnapshotAgeMs === undefined ? olderThanMs : rules.nowMs - Number(head.maxSnapshotAgeMs);
    let count = 0;
    let open = true;
    for (const ancestor of ancestorsOf(metadata, snapshotById(metadata, head.snapshotId))) {
      referred.add(ancestor.snapshotId);
      open &&= count < minimum || ancestor.timestampMs >= after;
      if (open) kept.add(ancestor.snapshotId);
      count += 1;
    }
  }
  for (const { snapshotId, timestampMs } of snapshots) if (!referred.has(snapshotId) && timestampMs >= olderThanMs) kept.add(snapshotId);
  const needed = new Set(neededByFeeds(metadata, rules.keepVersionsFrom));
  const goes = ({ snapshotId }: IcebergSnapshot): boolean => !needed.has(snapshotId) && (!kept.has(snapshotId) || asked.has(snapshotId));
  const staying = new Set(refs.map(([name]) => name));
  return { snapshots: snapshots.filter(goes), refs: [...metadata.refs.keys()].filter((name) => !staying.has(name)) };
}

function staysRef(
  metadata: TableMetadata,
  name: string,
  ref: SnapshotRef,
  { nowMs, maxRefAgeMs }: { readonly nowMs: number; readonly maxRefAgeMs: number },
): boolean {
  if (name === mainBranch) return true;
  const snapshot = snapshotById(metadata, ref.snapshotId);
  const most = ref.maxRefAgeMs === undefined ? maxRefAgeMs : Number(ref.maxRefAgeMs);
  return snapshot !== undefined && nowMs - snapshot.timestampMs <= most;
}

function refuseReferred(asked: ReadonlySet<bigint>, refs: readonly (readonly [string, SnapshotRef])[]): void {
  for (const id of asked) {
    const names = refs.filter(([, ref]) => ref.snapshotId === id).map(([name]) => name);
    if (names.length > 0) throw illegalArgument(`Cannot expire ${id}. Still referenced by refs: [${names.join(', ')}]`);
  }
}

/** Snapshots of the versions, and the one before the first of them: what it lost is found there. */
export function neededByFeeds(metadata: TableMetadata, keepVersionsFrom: number | undefined): readonly bigint[] {
  if (keepVersionsFrom === undefined) return [];
  const head = metadata.refs.get(mainBranch)?.snapshotId;
  const needed: bigint[] = [];
  for (const ancestor of ancestorsOf(metadata, head === undefined ? undefined : snapshotById(metadata, head))) {
    needed.push(ancestor.snapshotId);
    if (versionOf(metadata, ancestor) < keepVersionsFrom) break;
  }
  return needed;
}

/** Bytes of files that snapshots removed whose parents only `keepVersionsFrom` keeps, as their summaries tell. */
export function heldBytes(metadata: TableMetadata, rules: Pick<ExpiryRules, 'nowMs' | 'keepVersionsFrom'>): number {
  const goneAnyway = new Set(expiryOf(metadata, rules).snapshots.map(({ snapshotId }) => snapshotId));
  const held = new Set(
    expiryOf(metadata, { nowMs: rules.nowMs }).snapshots.flatMap(({ snapshotId }) => (goneAnyway.has(snapshotId) ? [] : [snapshotId])),
  );
  const removed = metadata.snapshots.filter(({ parentSnapshotId }) => parentSnapshotId !== undefined && held.has(parentSnapshotId));
  return removed.reduce((sum, { summary }) => sum + whole(summary, 'removed-files-size', 0), 0);
}

function whole(properties: Readonly<Record<string, string>>, key: string, otherwise: number): number {
  const text = properties[key];
  return text !== undefined && /^\d{1,19}$/.test(text) ? Number(text) : otherwise;
}
