import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import { firstNeeded } from '../table/reader-notes.ts';
import type { Version } from '../table/version.ts';
import { writeVersionChecksum } from './checkpoint/version-checksum.ts';
import { writeCheckpoint } from './checkpoint/write-checkpoint.ts';
import type { DeltaLog } from './delta-log.ts';
import type { DeltaSnapshot } from './delta-snapshot.ts';
import { cleanUpHorizon, cleanUpLog } from './log/clean-up-log.ts';
import { cleanUpSidecars } from './log/clean-up-sidecars.ts';
import { listLog } from './log/log-listing.ts';

interface LogUpkeepParts {
  readonly log: DeltaLog;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Deletes expired log with the log checkpoints of row operations. */
  readonly cleansUpLog?: boolean | undefined;
}

/** What a table's log needs beside its versions: log checkpoints, checksums, and an end. */
export class LogUpkeep {
  readonly #parts: LogUpkeepParts;

  constructor(parts: LogUpkeepParts) {
    this.#parts = parts;
  }

  /**
   * Writes the log checkpoint and the checksum of a version that is due for them. The log is cleaned up by `checkpoint` only, which is
   * told what feeds still need.
   */
  async afterCommit(version: Version, signal?: AbortSignal): Promise<void> {
    try {
      if (!this.#isCheckpointDue(version)) return;
      await this.#checkpoint(await this.#parts.log.snapshotAt(version, signal), signal);
    } catch {
      // The version stands whatever happens here; the next one that is due, or maintenance, makes up for it.
    }
  }

  /** Writes the newest version's log checkpoint, if there is none, and cleans the log up as far as the table, those who noted that they read it and `keepVersionsFrom` let it. */
  async checkpoint(
    options: { readonly dryRun: boolean; readonly keepVersionsFrom?: Version | undefined },
    signal?: AbortSignal,
  ): Promise<{ readonly version: Version; readonly written: boolean }> {
    const snapshot = await this.#parts.log.refresh(signal);
    const { store } = this.#parts.log;
    const listing = await listLog(store, 0, signal);
    const written = !listing.checkpoints.some((checkpoint) => checkpoint.version === snapshot.version);
    if (options.dryRun) return { version: snapshot.version, written };
    if (written) await this.#checkpoint(snapshot, signal);
    if (snapshot.settings.expiredLogCleanup) {
      const { logRetentionMs } = snapshot.settings;
      const horizon = cleanUpHorizon(listing, {
        nowMs: this.#parts.clock.now(),
        logRetentionMs,
        keepVersionsFrom: await firstNeeded(store, snapshot.tableId, options.keepVersionsFrom, signal),
      });
      if (horizon !== undefined) await cleanUpLog(store, listing, horizon, signal);
      if (snapshot.settings.checkpointPolicy === 'v2') await cleanUpSidecars(this.#parts.log, { nowMs: this.#parts.clock.now() }, signal);
    }
    return { version: snapshot.version, written };
  }

  /** As `afterCommit` of a version of row operations, whose checkpoints may clean the log up. The version stands whatever happens here. */
  async afterRowCommit(version: Version): Promise<void> {
    // The log checkpoint of maintenance cleans up too.
    if (this.#parts.cleansUpLog === true && this.#isCheckpointDue(version)) await this.checkpoint({ dryRun: false }).catch(() => undefined);
    else await this.afterCommit(version);
    await this.#checksum(version).catch(() => undefined);
  }

  #isCheckpointDue(version: Version): boolean {
    const interval = this.#parts.log.current?.settings.checkpointInterval ?? 0;
    return version !== 0 && interval !== 0 && version % interval === 0;
  }

  async #checksum(version: Version): Promise<void> {
    await writeVersionChecksum(this.#parts.log.store, await this.#parts.log.snapshotAt(version));
  }

  async #checkpoint(snapshot: DeltaSnapshot, signal: AbortSignal | undefined): Promise<void> {
    // Not later than the storage's own time: a clock that is ahead must not forget removed files that readers may still use, for vacuum
    // deletes what the checkpoint does not name.
    const nowMs = Math.min(this.#parts.clock.now(), snapshot.committedAt);
    await writeCheckpoint(
      { store: this.#parts.log.store, codec: this.#parts.log.codec, ids: this.#parts.ids },
      snapshot,
      { nowMs },
      signal,
    );
    await writeVersionChecksum(this.#parts.log.store, snapshot, signal).catch((error: unknown) => {
      // Optional for every reader, and never replaced.
      if (isServiceError(error, 'aborted')) throw error;
    });
  }
}
