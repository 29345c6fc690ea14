import { present } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { BatchOutcome, BatchSink, DiscardReason } from '../protocol/batch-sink.ts';
import { accountedRange, type CommitAccounting, printAccounting } from '../protocol/commit-accounting.ts';
import type { DeadLetterSink, RejectAccounting } from '../protocol/dead-letters.ts';
import {
  type BatchRange,
  type BatchStager,
  countPassedOver,
  countRead,
  countRejected,
  type DecodeSpec,
  type SealedBatch,
  type StageResult,
} from '../protocol/sealed-batch.ts';
import type { TableEvents } from '../protocol/table-events.ts';
import { columnBytes } from '../schema/column-bytes.ts';
import { toCommitId } from '../table/commit.ts';
import type { KeyIndex } from '../table/key-index.ts';
import type { AppliedKeys, KeyedRows } from '../table/keyed.ts';
import type { StagedFile, WriteSpec } from '../table/staged-file.ts';
import type { CommitObserver } from './commit-observer.ts';
import type { MarkedFiles } from './keyed/marked-files.ts';
import type { TombstoneTable } from './keyed/tombstone-table.ts';
import { type CommitResult, sameLayout, type TableCommitter, type WritableTable } from './table-committer.ts';
import type { TableEvolution } from './table-evolution.ts';

export interface CommitQueueDependencies {
  readonly table: WritableTable;
  readonly committer: TableCommitter;
  readonly stager: BatchStager;
  readonly deadLetters: DeadLetterSink;
  /** Decodes against the table's current schema; may throw when a declared column is missing from it. `tableId`: of the table as it is now. */
  readonly decodeSpecFor: (write: WriteSpec, tableId: string) => DecodeSpec;
  readonly pipeline: string;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly failpoint: Failpoint;
  readonly observer: CommitObserver;
  readonly events: TableEvents;
  /** Told how many bytes of letters, keys and rows are kept until their commit, and are kept no more. Absent: nobody counts them. */
  readonly hold?: ((changeBytes: number) => void) | undefined;
  /** Through which time a table with these marks of the pipeline is whole (`CommitAccounting.validThrough`). Absent: nobody knows. */
  readonly validThrough?: ((marks: ReadonlyMap<string, bigint>) => number | undefined) | undefined;
  /** Changes the table as records call for. Absent: nothing calls for changes. */
  readonly evolution?: Pick<TableEvolution, 'apply' | 'tell'> | undefined;
  /** Of a keyed table whose deletes are remembered. */
  readonly tombstones?: TombstoneTable | undefined;
  /** Of a keyed table: where the rows of keys are. Absent: the table is read. */
  readonly keyIndex?: KeyIndex | undefined;
  /** Of a keyed table: writes files anew of which most rows are marked. Absent: that is left to maintenance. */
  readonly markedFiles?: Pick<MarkedFiles, 'tidy'> | undefined;
}

interface Staged {
  readonly result: StageResult;
  readonly spec: WriteSpec;
  readonly replayTopic: string | undefined;
  /** When it began. */
  readonly sinceMs: number;
  /** What is kept of it in memory is kept no more. */
  readonly letGo: () => void;
}

/**
 * The commit side of one table: batches are staged side by side as the stager allows, and committed one after another in the order
 * they were submitted.
 */
export class CommitQueue implements BatchSink {
  readonly #dependencies: CommitQueueDependencies;
  /** Settles when every batch submitted so far has its outcome. Never rejects. */
  #tail: Promise<unknown> = Promise.resolve();
  /** Raised by a discard: everything submitted under an older epoch is discarded with it. */
  #epoch = 0;

  constructor(dependencies: CommitQueueDependencies) {
    this.#dependencies = dependencies;
  }

  async progressStartingWith(prefix: string, signal?: AbortSignal): Promise<ReadonlyMap<string, bigint>> {
    await this.#tail;
    const snapshot = await this.#dependencies.committer.refresh(signal);
    return snapshot.progressStartingWith(prefix);
  }

  /** Through which time the newest version that is known here is whole. Reads nothing. */
  get validThrough(): number | undefined {
    const { committer, pipeline, validThrough } = this.#dependencies;
    const marks = committer.known?.progressStartingWith(`${pipeline}:`);
    return marks === undefined ? undefined : validThrough?.(marks);
  }

  settle(ranges: readonly BatchRange[]): Promise<boolean> {
    const turn = this.#tail.then(() => this.#settle(ranges));
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  submit(batch: SealedBatch, revoked: AbortSignal): Promise<BatchOutcome> {
    const epoch = this.#epoch;
    const staged = this.#stage(batch, revoked);
    // The wait below may never look at `staged` when an earlier batch fails first; its rejection must not go unhandled.
    staged.catch(() => undefined);
    const turn = this.#tail
      .then(() => this.#finish({ batch, staged, epoch, revoked }))
      .finally(() => {
        // Also of those whose turn is not looked at: an earlier batch failed.
        staged.then(
          ({ letGo }) => {
            letGo();
          },
          () => undefined,
        );
      })
      .catch((error: unknown) => {
        this.#dependencies.observer.failed(error);
        throw error;
      });
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async #stage(batch: SealedBatch, revoked: AbortSignal): Promise<Staged> {
    const { table, committer, stager, decodeSpecFor, ids, clock, observer } = this.#dependencies;
    const base = await committer.base(revoked);
    const spec = table.writeSpec(base);
    const sinceMs = clock.monotonicMs();
    const decode = decodeSpecFor(spec, base.tableId);
    const result = await stager.stage({ batch, write: spec, decode, fileNameStem: ids.uuid() }, revoked);
    if (result.needs === undefined) observer.staged(result);
    return { result, spec, replayTopic: decode.replays?.topic, sinceMs, letGo: this.#keep(result) };
  }

  #keep({ rejects, keyed }: StageResult): () => void {
    const { hold } = this.#dependencies;
    const batches = keyed === undefined ? [] : [keyed.keys, ...(keyed.patches === undefined ? [] : [keyed.patches.rows])];
    let bytes = rejects.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
    bytes += batches.flatMap(({ columns }) => columns).reduce((sum, column) => sum + columnBytes(column), 0);
    hold?.(bytes);
    return () => {
      hold?.(-bytes);
      bytes = 0;
    };
  }

  async #finish(turn: {
    readonly batch: SealedBatch;
    readonly staged: Promise<Staged>;
    readonly epoch: number;
    readonly revoked: AbortSignal;
  }): Promise<BatchOutcome> {
    let staged: Staged;
    try {
      staged = await turn.staged;
      if (turn.epoch !== this.#epoch) return this.#discard(staged.result, 'progress-moved');
      staged = await this.#fit(turn.batch, staged, turn.revoked);
    } catch (error) {
      if (turn.revoked.aborted || isServiceError(error, 'aborted')) return { kind: 'discarded', reason: 'revoked' };
      throw error;
    }
    try {
      if (turn.revoked.aborted) return this.#discard(staged.result, 'revoked');
      return await this.#commit(turn.batch, staged, turn.revoked);
    } finally {
      staged.letGo();
    }
  }

  /** The batch staged for the table as it is: what its records call for is changed first, and what was staged for another layout is staged again. */
  async #fit(batch: SealedBatch, first: Staged, revoked: AbortSignal): Promise<Staged> {
    const { table, committer, evolution, observer } = this.#dependencies;
    let staged = first;
    for (let staging = 1; !revoked.aborted; staging += 1) {
      const { needs, left } = staged.result;
      if (needs !== undefined) {
        await present(evolution, 'who lets a batch call for changes makes them').apply(needs, staged.spec.schema, revoked);
        await committer.refresh(revoked);
      } else if (sameLayout(table.writeSpec(await committer.base(revoked)), staged.spec)) {
        evolution?.tell(left ?? []);
        return staged;
      } else observer.discarded(staged.result, 'table-changed');
      staged.letGo();
      if (staging >= maxStagings) throw changesWithoutEnd(table.name);
      staged = await this.#stage(batch, revoked);
    }
    return staged;
  }

  async #commit(batch: SealedBatch, staged: Staged, revoked: AbortSignal): Promise<BatchOutcome> {
    const { deadLetters, failpoint, clock, events, observer } = this.#dependencies;
    const { result } = staged;
    await failpoint('before-commit');
    const rejected = await unlessAborted(deadLetters.write(batch, result.rejects, revoked));
    if (rejected === undefined || revoked.aborted) return this.#discard(result, 'revoked');
    if (rejected.deadLettered > 0) await failpoint('after-dead-letters');
    const remembered = await unlessAborted(this.#remember(result, revoked));
    if (remembered === undefined) return this.#discard(result, 'revoked');
    const startedMs = clock.monotonicMs();
    const outcome = await this.#commitOnce(batch, staged, rejected);
    if (outcome.kind === 'stale') {
      this.#epoch += 1;
      return this.#discard(result, outcome.reason);
    }
    observer.committed({
      version: outcome.version,
      staged: result,
      ...rejected,
      commitMs: clock.monotonicMs() - startedMs,
      applied: outcome.applied,
    });
    await failpoint('before-group-offsets');
    events.committed(batch.table, outcome.version);
    void this.#dependencies.table.afterCommit(outcome.version);
    await this.#tidy(outcome.applied, revoked);
    return { kind: 'committed', version: outcome.version, rowCount: result.rowCount, rejectedCount: countRejected(result.rejects) };
  }

  /** Deletes are known to all before any of them may have taken a row. */
  async #remember({ keyed }: StageResult, signal: AbortSignal): Promise<true> {
    if (keyed !== undefined) await this.#dependencies.tombstones?.remember(keyed, signal);
    return true;
  }

  /** The batch stands, whatever becomes of this. */
  async #tidy(applied: AppliedKeys | undefined, revoked: AbortSignal): Promise<void> {
    const { committer, markedFiles, observer } = this.#dependencies;
    if (markedFiles === undefined || applied === undefined) return;
    try {
      const tidied = await markedFiles.tidy(applied, await committer.base(revoked), revoked);
      if (tidied === undefined) return;
      observer.tidied(tidied);
      // The next commit is made on top of this version.
      await committer.refresh(revoked);
    } catch (error) {
      if (!revoked.aborted) observer.notTidied(error);
    }
  }

  #commitOnce(batch: SealedBatch, staged: Staged, rejected: RejectAccounting): Promise<CommitResult> {
    const { result, spec, replayTopic, sinceMs } = staged;
    const { tombstones, keyIndex } = this.#dependencies;
    return this.#advance(batch.ranges, spec, {
      files: result.files,
      keyed: result.keyed === undefined ? undefined : { ...result.keyed, deletes: tombstones, index: keyIndex },
      stagedSinceMs: sinceMs,
      replayTopic,
      accounting: {
        records: countRead(result),
        rows: result.rowCount,
        ...(result.keyed === undefined ? {} : { keyed: true }),
        ...((result.replayed ?? 0) === 0 ? {} : { replayed: result.replayed }),
        ...(result.recordsWithRows === result.rowCount ? {} : { recordsWithRows: result.recordsWithRows }),
        deadLettered: rejected.deadLettered,
        filtered: rejected.filtered + countPassedOver(result.passedOver),
      },
    });
  }

  async #settle(ranges: readonly BatchRange[]): Promise<boolean> {
    const { table, committer, events } = this.#dependencies;
    const spec = table.writeSpec(await committer.base());
    const accounting = { records: 0, rows: 0, deadLettered: 0, filtered: 0 };
    const outcome = await this.#advance(ranges, spec, { files: [], accounting });
    if (outcome.kind === 'stale') return false;
    events.committed(table.name, outcome.version);
    void table.afterCommit(outcome.version);
    return true;
  }

  async #advance(
    ranges: readonly BatchRange[],
    spec: WriteSpec,
    what: {
      readonly files: readonly StagedFile[];
      readonly keyed?: KeyedRows | undefined;
      readonly stagedSinceMs?: number | undefined;
      readonly replayTopic?: string | undefined;
      readonly accounting: Omit<CommitAccounting, 'pipeline' | 'ranges'>;
    },
  ): Promise<CommitResult> {
    const { committer, ids, pipeline } = this.#dependencies;
    const progress = ranges.map(({ writerId, expectedMark, until }) => ({ writerId, from: expectedMark, until }));
    const validThrough = await this.#validThroughWith(ranges);
    const userMetadata = printAccounting({
      pipeline,
      ...(validThrough === undefined ? {} : { validThrough }),
      ranges: ranges.map((range) => accountedRange(range, what.replayTopic)),
      ...what.accounting,
    });
    const { files, keyed, stagedSinceMs } = what;
    return committer.commit({ commitId: toCommitId(ids.uuid()), files, keyed, stagedSinceMs, progress, userMetadata }, spec);
  }

  /** Others have moved marks only forward meanwhile. */
  async #validThroughWith(ranges: readonly BatchRange[]): Promise<number | undefined> {
    const { committer, pipeline, validThrough } = this.#dependencies;
    if (validThrough === undefined) return undefined;
    const marks = new Map((await committer.base()).progressStartingWith(`${pipeline}:`));
    for (const { writerId, until } of ranges) marks.set(writerId, until);
    return validThrough(marks);
  }

  #discard(result: StageResult, reason: DiscardReason): BatchOutcome {
    if (result.needs === undefined) this.#dependencies.observer.discarded(result, reason);
    return { kind: 'discarded', reason };
  }
}

/** How often one batch is staged while its table changes. */
const maxStagings = 20;

function changesWithoutEnd(table: string): ServiceError {
  return serviceError.conflict(
    'TABLE_KEEPS_CHANGING',
    `table "${table}": a batch was staged ${maxStagings} times, and each time the table was another one`,
    { hint: 'the ingest starts again by itself; look for another process that changes the columns of the table all the time' },
  );
}

async function unlessAborted<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isServiceError(error, 'aborted')) return undefined;
    throw error;
  }
}
