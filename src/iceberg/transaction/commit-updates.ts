import { printJson } from '../../base/bigint-json.ts';
import type { CommitOptions } from '../../table/row-operations.ts';
import { nothingStaged } from '../../table/staged-presence.ts';
import { applyUpdates } from '../metadata/apply-updates.ts';
import { printTableMetadata } from '../metadata/print-table-metadata.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import type { LoadedMetadata, MetadataChange, SwapConflict } from '../pointer/table-pointer.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { mainBranch, snapshotStateOf } from '../snapshot-state-of.ts';
import type { TableContext } from '../table-context.ts';
import { CommitFailedException } from './commit-errors.ts';
import { commitUntilCertain } from './commit-loop.ts';
import { proveBase, proveStaged } from './commit-proof.ts';
import { checkMark, markUpdates } from './idempotency.ts';

/**
 * Commits changes of the metadata alone: no snapshot is made. `plan` says what to change of the newest metadata, and is asked again for each
 * newer one; `undefined`: nothing is to be changed.
 *
 * @throws what `plan` throws; CommitFailedException (kind conflict), errors of the catalog: certain, nothing changed.
 * CommitStateUnknownException (kind unknown-outcome).
 */
export async function commitUpdates(
  context: TableContext,
  plan: (state: SnapshotState) => MetadataChange | undefined,
  options: CommitOptions = {},
): Promise<SnapshotState | undefined> {
  const { signal, idempotency } = options;
  const first = (await context.refresh(signal)).loaded;
  const end = await commitUntilCertain(
    context,
    first,
    {
      changeOn: (base) => {
        if (base === undefined) throw new CommitFailedException(context.name, 'the table was dropped');
        if (base.metadata.tableUuid !== first.metadata.tableUuid) throw new CommitFailedException(context.name, 'the table was replaced');
        checkMark(idempotency, first.metadata, base.metadata);
        const change = plan(currentState(base, context.branch));
        const updates = [...(change?.updates ?? []), ...markUpdates(idempotency)];
        const prove = async (written = nothingStaged): Promise<SwapConflict | undefined> => {
          await proveStaged(context, [written]);
          return proveBase(context, base);
        };
        return Promise.resolve(change && { ...change, updates, prove });
      },
      hasLanded,
    },
    signal,
  );
  if (end.kind === 'nothing') return undefined;
  const state = currentState(end.loaded, context.branch);
  context.adopt(state);
  return state;
}

/** The newest of the branch; of main when the change itself took the branch away. */
function currentState(loaded: LoadedMetadata, branch: string): SnapshotState {
  return snapshotStateOf(loaded, { branch: loaded.metadata.refs.has(branch) ? branch : mainBranch });
}

/** Whether the change, made once more, would change nothing: it landed, or somebody else made the same. */
function hasLanded(newest: TableMetadata, change: MetadataChange): boolean {
  try {
    const again = applyUpdates(newest, change.updates, { nowMs: newest.lastUpdatedMs, baseLocation: undefined });
    return stateOf(again) === stateOf(newest);
  } catch {
    // What cannot be made on it is not there.
    return false;
  }
}

function stateOf(metadata: TableMetadata): string {
  const properties = printJson(Object.entries(metadata.properties).toSorted(([left], [right]) => (left < right ? -1 : 1)));
  return properties + printTableMetadata({ ...metadata, properties: {}, lastUpdatedMs: 0, metadataLog: [], snapshotLog: [] });
}
