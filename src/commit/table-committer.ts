import { throwIfAborted } from '../base/abort.ts';
import { assertNever, present } from '../base/assert.ts';
import { type BackoffPolicy, backoffMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { describeFields } from '../schema/describe-type.ts';
import type { AppendIntent, CommitOutcome } from '../table/commit.ts';
import type { AppliedKeys, KeyedRows } from '../table/keyed.ts';
import type { WriteSpec } from '../table/staged-file.ts';
import type { AppendableTable, KeyedTable, Snapshot } from '../table/table.ts';
import type { Version } from '../table/version.ts';
import type { CommitObserver } from './commit-observer.ts';
import { type CommitEvent, type CommitState, nextCommitState } from './commit-state.ts';

export interface CommitterSettings {
  /** Attempts against other writers before the pipeline fails loudly. */
  readonly maxRebaseAttempts: number;
  /** How long an unknown outcome may stay unresolved, with the store unreachable, before the pipeline fails loudly. Nothing is deleted then. */
  readonly verifyTimeoutMs: number;
  readonly backoff: BackoffPolicy;
}

/** A table that takes rows, by key or not. */
export type WritableTable = AppendableTable & Pick<KeyedTable, 'tryUpsert'>;

/** Rows of staged files and the progress they carry: added to the table or, where there are keys, in place of the rows that have them. */
export interface CommitIntent extends AppendIntent {
  readonly keyed?: KeyedRows | undefined;
}

export interface CommitterDependencies {
  readonly table: WritableTable;
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: CommitObserver;
  readonly settings: CommitterSettings;
}

/** `staged-missing`: somebody deleted its files before the commit. */
type StaleReason = 'progress-moved' | 'table-changed' | 'staged-missing';

export type CommitResult =
  /** `applied`: of rows by key. */
  | { readonly kind: 'committed'; readonly version: Version; readonly applied?: AppliedKeys | undefined }
  | { readonly kind: 'stale'; readonly reason: StaleReason };

/** What one commit knows while it runs. */
interface CommitRun {
  readonly intent: CommitIntent;
  readonly spec: WriteSpec;
  readonly baseVersion: Version;
  state: CommitState;
  attempts: number;
  version: Version | undefined;
  staleBecause: StaleReason;
  /** What the last attempt did. */
  applied: AppliedKeys | undefined;
}

/**
 * Takes one staged append of one table to exactly one of its ends: in the table once, or certainly stale. The single writer of its
 * process for that table; calls must not overlap.
 */
export class TableCommitter {
  readonly #table: WritableTable;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #observer: CommitObserver;
  readonly #settings: CommitterSettings;
  #snapshot: Snapshot | undefined;

  constructor(dependencies: CommitterDependencies) {
    this.#table = dependencies.table;
    this.#clock = dependencies.clock;
    this.#random = dependencies.random;
    this.#observer = dependencies.observer;
    this.#settings = dependencies.settings;
  }

  /** The newest version this committer has seen; `undefined`: none yet. */
  get known(): Snapshot | undefined {
    return this.#snapshot;
  }

  /** Reads the newest version; the base of the next commit. */
  async refresh(signal?: AbortSignal): Promise<Snapshot> {
    this.#snapshot = await this.#table.refresh(signal);
    return this.#snapshot;
  }

  /** The newest version this committer has seen, read first if there is none yet. */
  async base(signal?: AbortSignal): Promise<Snapshot> {
    return this.#snapshot ?? this.refresh(signal);
  }

  /**
   * Commits `intent`, whose files were written under `spec`.
   *
   * @throws ServiceError `COMMIT_CONTENTION` (conflict) after `maxRebaseAttempts`, `COMMIT_OUTCOME_UNKNOWN` (unknown-outcome) when the store
   * stayed silent for `verifyTimeoutMs`, and whatever the store says is permanent. After any of them the staged files must stay.
   */
  async commit(intent: CommitIntent, spec: WriteSpec, signal?: AbortSignal): Promise<CommitResult> {
    const base = await this.base(signal);
    if (!sameLayout(this.#table.writeSpec(base), spec)) return { kind: 'stale', reason: 'table-changed' };
    const run: CommitRun = {
      intent,
      spec,
      baseVersion: base.version,
      state: nextCommitState('idle', 'staged'),
      attempts: 0,
      version: undefined,
      staleBecause: 'progress-moved',
      applied: undefined,
    };
    while (run.state !== 'done' && run.state !== 'discarded') {
      // A commit that began is seen through: only between attempts, while nothing is in doubt, may the caller stop it.
      if (run.state !== 'verifying') throwIfAborted(signal);
      run.state = nextCommitState(run.state, await this.#step(run));
    }
    if (run.state === 'discarded') return { kind: 'stale', reason: run.staleBecause };
    await this.#refreshAfterCommit();
    return { kind: 'committed', version: present(run.version, 'a commit that is done has a version'), applied: run.applied };
  }

  /** The commit is done whatever happens here: without a fresh view the next commit begins by reading one. */
  async #refreshAfterCommit(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      if (!isServiceError(error)) throw error;
      this.#snapshot = undefined;
    }
  }

  async #step(run: CommitRun): Promise<CommitEvent> {
    switch (run.state) {
      case 'committing':
        return this.#attempt(run);
      case 'rebasing':
        return this.#rebase(run);
      case 'verifying':
        return this.#verify(run);
      case 'idle':
      case 'done':
      case 'discarded':
        throw serviceError.internal('COMMIT_STATE_INVALID', `commit state ${run.state} has nothing to do`);
      default:
        return assertNever(run.state);
    }
  }

  async #attempt(run: CommitRun): Promise<CommitEvent> {
    run.attempts += 1;
    const outcome = await this.#tryAppend(run);
    if (outcome === undefined) return 'conflict';
    this.#observer.attempt(outcome.kind);
    switch (outcome.kind) {
      case 'committed':
        run.version = outcome.version;
        return 'committed';
      case 'already-committed':
        run.version = outcome.version;
        return 'found';
      case 'conflicted':
        return this.#conflictEvent(run, outcome);
      case 'unknown':
        return 'timeout';
      default:
        return assertNever(outcome);
    }
  }

  /** `undefined`: the store refused and nothing changed; wait and look again. */
  async #tryAppend(run: CommitRun): Promise<CommitOutcome | undefined> {
    try {
      return await this.#try(run, await this.base());
    } catch (error) {
      if (!isServiceError(error) || !error.retryable || run.attempts > this.#settings.maxRebaseAttempts) throw error;
      this.#observer.attempt('unavailable', error);
      await this.#clock.sleep(backoffMs(this.#settings.backoff, run.attempts, this.#random));
      return undefined;
    }
  }

  async #try(run: CommitRun, base: Snapshot): Promise<CommitOutcome> {
    const { keyed, ...intent } = run.intent;
    if (keyed === undefined) return this.#table.tryAppend(base, intent);
    const { outcome, applied } = await this.#table.tryUpsert(base, { ...intent, keyed });
    run.applied = applied;
    return outcome;
  }

  #conflictEvent(run: CommitRun, outcome: CommitOutcome & { readonly kind: 'conflicted' }): CommitEvent {
    const { conflict } = outcome;
    switch (conflict.kind) {
      case 'version-taken':
      case 'metadata-changed':
      case 'history-changed':
        return 'conflict';
      case 'staged-missing':
        // It is read again and staged anew. Should an attempt of unknown outcome land after this, what is committed next meets its marks.
        run.staleBecause = 'staged-missing';
        return 'stale';
      case 'progress-moved':
        // After an attempt of unknown outcome the mark may have moved because that attempt landed: the log decides, in `rebasing`.
        if (run.attempts > 1) return 'conflict';
        run.staleBecause = 'progress-moved';
        return 'stale';
      case 'files-removed':
        // Rows are looked up anew.
        if (run.intent.keyed !== undefined) return 'conflict';
        throw serviceError.internal('ASSERTION_FAILED', `an append removes no files, yet ${conflict.path} was missed`);
      default:
        return assertNever(conflict);
    }
  }

  async #rebase(run: CommitRun): Promise<CommitEvent> {
    if (run.attempts > this.#settings.maxRebaseAttempts) {
      throw serviceError.conflict(
        'COMMIT_CONTENTION',
        `table "${this.#table.name}": ${run.attempts} attempts to commit all lost against other writers`,
        { hint: 'lower the number of writers on this table, or raise commit.maxRebaseAttempts' },
      );
    }
    const snapshot = await this.#reading(() => this.refresh());
    const stale = staleness(snapshot, run, this.#table);
    if (stale === undefined) return 'rebased';
    // Whoever moved our marks may have been an earlier attempt of this very commit.
    const found = await this.#reading(() => this.#table.findCommit(run.intent.commitId, run.baseVersion));
    if (found !== undefined) {
      run.version = found;
      return 'found';
    }
    run.staleBecause = stale;
    return 'stale';
  }

  async #verify(run: CommitRun): Promise<CommitEvent> {
    try {
      const found = await this.#reading(() => this.#table.findCommit(run.intent.commitId, run.baseVersion));
      this.#observer.resolved(found === undefined ? 'absent' : 'own');
      run.version = found;
      return found === undefined ? 'absent' : 'found';
    } catch (error) {
      throw isServiceError(error) && error.retryable ? this.#unresolved(run, error) : error;
    }
  }

  /** Reads, and on a transient failure waits and reads again until `verifyTimeoutMs` have passed. */
  async #reading<T>(read: () => Promise<T>): Promise<T> {
    const deadline = this.#clock.monotonicMs() + this.#settings.verifyTimeoutMs;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await read();
      } catch (error) {
        if (!isServiceError(error) || !error.retryable || this.#clock.monotonicMs() >= deadline) throw error;
        await this.#clock.sleep(backoffMs(this.#settings.backoff, attempt, this.#random));
      }
    }
  }

  #unresolved(run: CommitRun, cause: unknown): ServiceError {
    return serviceError.unknownOutcome(
      'COMMIT_OUTCOME_UNKNOWN',
      `table "${this.#table.name}": commit ${run.intent.commitId} after version ${run.baseVersion} may or may not have landed, and the log could not be read for ${this.#settings.verifyTimeoutMs} ms`,
      {
        hint: 'restore access to the table and restart: the next start reads the offsets from the table and continues exactly; delete no files',
        cause,
      },
    );
  }
}

function staleness(snapshot: Snapshot, run: CommitRun, table: AppendableTable): StaleReason | undefined {
  // A table that was put back has other marks.
  const moved = run.intent.progress.some((advance) => snapshot.progressOf(advance.writerId) !== advance.from);
  if (moved) return 'progress-moved';
  return sameLayout(table.writeSpec(snapshot), run.spec) ? undefined : 'table-changed';
}

/** Whether files written under `written` may be appended to a table whose files are written under `current`. */
export function sameLayout(current: WriteSpec, written: WriteSpec): boolean {
  return (
    current.identity === written.identity &&
    current.location === written.location &&
    current.partitionColumns.join('\0') === written.partitionColumns.join('\0') &&
    describeFields(current.schema.fields) === describeFields(written.schema.fields)
  );
}
