import { assert } from '../../base/assert.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import { type ColumnIds, columnIdsOf } from '../../schema/column-ids.ts';
import type { LeaderFile, LeaderPoint, LeaderState, LeaderStep, TwinOutcome, TwinPosition, TwinTable } from '../../table/twin.ts';
import type { Version } from '../../table/version.ts';
import { ancestorsOf } from '../ancestry.ts';
import { withNameMapping } from '../files/name-mapping-updates.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { printProgress, progressKey, resolvedProgress } from '../progress.ts';
import { liveFiles } from '../scan/live-files.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { tryCommitSnapshot } from '../transaction/commit-snapshot.ts';
import type { SnapshotChange } from '../transaction/snapshot-change.ts';
import { misfitOf } from './fits-leader.ts';
import { leaderContent } from './leader-content.ts';
import { changesFiles, lastShown, oldestShown, shownAs, shownBy } from './shown-version.ts';
import { isTwin } from './twin-properties.ts';

/** Files that an error names. */
const maxNamed = 3;

/** An Iceberg table that shows what a table of another format has, in that table's files. */
export class IcebergTwin implements TwinTable {
  readonly #context: TableContext;
  #base: SnapshotState | undefined;

  constructor(context: TableContext) {
    this.#context = context;
  }

  async position(signal?: AbortSignal): Promise<TwinPosition> {
    const base = await this.#context.refresh(signal);
    this.#base = base;
    const { metadata, snapshot } = base;
    if (!isTwin(metadata.properties)) return { kind: 'not-a-twin' };
    for (const ancestor of ancestorsOf(metadata, snapshot)) {
      const shown = shownBy(ancestor);
      if (shown !== undefined) return { kind: 'at', ...shown };
      if (changesFiles(ancestor)) return this.#changed(ancestor);
    }
    if (snapshot === undefined) return { kind: 'new' };
    const last = lastShown(metadata);
    return last === undefined ? this.#changed(snapshot) : { kind: 'at', ...last };
  }

  get columnIds(): ColumnIds {
    return columnIdsOf(this.#state.icebergSchema.struct);
  }

  misfit(point: LeaderPoint): string | undefined {
    return misfitOf(this.#state, point);
  }

  async tryStep(step: LeaderStep, signal?: AbortSignal): Promise<TwinOutcome> {
    const base = this.#state;
    if (step.kind === 'none' && printProgress(step.marks) === printProgress(resolvedProgress(base))) return 'nothing';
    const kind = step.kind === 'none' ? 'append' : step.kind;
    const removed = await this.#live(step.removed, signal);
    return this.#commit(base, step, { kind, added: step.added, removed, userMetadata: step.userMetadata }, signal);
  }

  async tryMatch(state: LeaderState, signal?: AbortSignal): Promise<TwinOutcome> {
    const base = this.#state;
    const wanted = new Map([...state.locations].map((location) => [this.#spelled(location), location]));
    const removed: ContentFile[] = [];
    for (const { entry } of (await liveFiles(this.#context, base, undefined, signal)).data)
      if (!wanted.delete(entry.file.path)) removed.push(entry.file);
    const added = await state.describe(new Set(wanted.values()), signal);
    const kind = removed.length === 0 ? 'append' : 'overwrite';
    return this.#commit(base, state, { kind, added, removed, userMetadata: undefined }, signal);
  }

  async oldestShown(signal?: AbortSignal): Promise<Version | undefined> {
    return oldestShown((await this.#context.refresh(signal)).metadata);
  }

  get #state(): SnapshotState {
    assert(this.#base !== undefined, 'the position of a twin is asked for first');
    return this.#base;
  }

  #changed({ snapshotId, summary }: NonNullable<SnapshotState['snapshot']>): TwinPosition {
    const { metadata } = this.#state;
    let own: bigint | undefined;
    for (const snapshot of metadata.snapshots) if (shownBy(snapshot) !== undefined) own = snapshot.snapshotId;
    return { kind: 'changed', snapshotId, operation: summary['operation'] ?? 'unknown', lastOwn: own };
  }

  async #commit(
    base: SnapshotState,
    point: LeaderPoint,
    change: Pick<SnapshotChange, 'kind' | 'removed'> & { readonly added: readonly LeaderFile[]; readonly userMetadata: string | undefined },
    signal: AbortSignal | undefined,
  ): Promise<TwinOutcome> {
    const { state, updates } = withNameMapping(base);
    const shown = shownAs(point);
    const marks = { [progressKey]: printProgress(point.marks) };
    await this.#context.failpoint('before-twin-commit');
    const outcome = await tryCommitSnapshot(
      this.#context,
      base,
      {
        kind: change.kind,
        added: leaderContent(state, change.added, ({ location }) => this.#spelled(location)),
        addsKnownFiles: true,
        removed: change.removed,
        validation: {},
        summary: { ...shown.summary, ...marks },
        updates: [...updates, shown.update, { action: 'set-properties', updates: marks }],
        ofTwin: true,
      },
      { userMetadata: change.userMetadata, signal },
    );
    if (outcome.kind === 'committed') {
      this.#base = outcome.state;
      await this.#context.failpoint('after-twin-commit');
    }
    return outcome.kind;
  }

  /** As the table's own files are spelled. */
  #spelled(location: string): string {
    return location.startsWith('/') && this.#state.metadata.location.startsWith('file:') ? `file://${location}` : location;
  }

  /** @throws ServiceError `TWIN_FILES_DIFFER` (corrupt). */
  async #live(locations: readonly string[], signal: AbortSignal | undefined): Promise<readonly ContentFile[]> {
    if (locations.length === 0) return [];
    const wanted = new Set(locations.map((location) => this.#spelled(location)));
    const found: ContentFile[] = [];
    for (const { entry } of (await liveFiles(this.#context, this.#state, undefined, signal)).data)
      if (wanted.delete(entry.file.path)) found.push(entry.file);
    if (wanted.size === 0) return found;
    throw filesDiffer(this.#context.name, [...wanted]);
  }
}

function filesDiffer(table: string, missing: readonly string[]): ServiceError {
  const named = missing.slice(0, maxNamed).map((path) => `"${path}"`);
  return serviceError.corrupt(
    'TWIN_FILES_DIFFER',
    `table "${table}" does not have ${missing.length} files that its leader had: ${named.join(', ')}`,
    {
      hint: 'drop the twin (its data files belong to the leader and stay): the next start makes it anew',
    },
  );
}
