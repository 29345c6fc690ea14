import type { Clock } from '../base/clock.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { OpenEngine } from '../engine/engine.ts';
import type { TimeZone } from '../expr/time-zone.ts';
import type { CommitTried } from '../table/commit-driver.ts';
import type { TablePointer } from './pointer/table-pointer.ts';
import type { SnapshotState } from './snapshot-state.ts';
import type { TableFiles } from './table-files.ts';

/** What operations on one Iceberg table work with. */
export interface TableContext {
  readonly name: string;
  readonly pointer: TablePointer;
  readonly files: TableFiles;
  readonly clock: Clock;
  /** Of the statement that is worked out; default: UTC. */
  readonly zone?: TimeZone | undefined;
  readonly random: Random;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
  /** @throws AnalysisException `ENGINE_NOT_AVAILABLE` for a table opened without one. */
  readonly engine: OpenEngine;
  readonly commitTried?: CommitTried | undefined;
  /** Written into every snapshot's summary: `engine-name`, `engine-version`. */
  readonly engineName: string;
  readonly engineVersion: string;
  /** Written into every snapshot's summary too: which application made it. */
  readonly applicationSummary?: Readonly<Record<string, string>> | undefined;
  /** The branch reads and writes are about; `main` unless the table was asked for another. */
  readonly branch: string;
  /** Where writes go instead, as long as the branch they are for is not there: the first one makes it. */
  readonly writeBranch?: string | undefined;
  /** Snapshots wait under this id until they are published, if the table has write-audit-publish. */
  readonly wapId?: string | undefined;
  /** The newest metadata, as the branch has it. Incremental. */
  refresh(signal?: AbortSignal): Promise<SnapshotState>;
  /** Takes over metadata that a commit of ours has made, so that the next refresh need not read it. */
  adopt(state: SnapshotState): void;
}
