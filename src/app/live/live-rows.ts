import { inertFailpoint } from '../../base/failpoint.ts';
import { silentCommitObserver } from '../../commit/commit-observer.ts';
import { TombstoneTable } from '../../commit/keyed/tombstone-table.ts';
import { TableEvolution } from '../../commit/table-evolution.ts';
import type { TableSettings } from '../../config/table-settings.ts';
import { isLetterRoute, type RouteSettings } from '../../ingest/settings.ts';
import { countPassedOver, countRead, countRejected, type SealedBatch, type StageResult } from '../../protocol/sealed-batch.ts';
import { needText } from '../../protocol/table-needs.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { KeyedRows } from '../../table/keyed.ts';
import type { QueryableTable, Snapshot } from '../../table/table.ts';
import type { Version } from '../../table/version.ts';
import type { Components } from '../components.ts';
import { DriftWatch } from '../drift-watch.ts';
import { replayTarget } from '../route-sources.ts';
import { takeDeclared } from '../take-declared.ts';
import { InThreadBatchStager } from '../workers/batch-stager.ts';
import { withSchemas } from '../workers/with-schemas.ts';
import { PreviewedTable } from './previewed-table.ts';
import { beginningOf, changesTable, readTail, rejectsSuspend, type Tail, type TailLimits } from './read-tail.ts';

/** What a batch of the topics' tail makes of a table, and nothing of it is written. */
export interface LiveRows {
  readonly table: QueryableTable;
  /** Rows of the newest version, by the columns that the table has when the tail is committed. */
  readonly snapshot: Snapshot;
  readonly batches: readonly ColumnBatch[];
  /** What the rows say of the keys of a keyed table. */
  readonly keyed: KeyedRows | undefined;
  readonly tail: LiveTail;
}

export interface LiveTail {
  /** Of the table, that the tail lies behind. */
  readonly version: Version;
  readonly partitions: Tail['partitions'];
  readonly bytes: number;
  readonly records: number;
  readonly rows: number;
  readonly deadLettered: number;
  readonly filtered: number;
}

/**
 * The newest version of a table and the rows that its ingest would add to it next: decoded, divided, transformed and folded by the same code.
 *
 * Columns are those that the table has when the tail is committed.
 *
 * @throws what `readTail` throws; ServiceError `TABLE_DRIFT`, `TRANSFORM_INVALID`, `LIVE_READ_SUSPENDED` (invalid), `LIVE_READ_TABLE_CHANGES`
 * (unavailable).
 */
export async function liveRows(
  components: Components,
  { settings, route }: { readonly settings: TableSettings; readonly route: RouteSettings },
  limits: TailLimits,
  signal: AbortSignal,
): Promise<LiveRows> {
  const { catalog } = components;
  const table = await catalog.load(settings.name, signal);
  const startAt = await beginningOf(components, route, signal);
  const snapshot = await table.refresh(signal);
  const stager = await tailStager(components, { settings, route, table, snapshot }, signal);
  const { batch, partitions, bytes } = await readTail(components, { route, snapshot, limits, startAt }, signal);
  const tail = { version: snapshot.version, partitions, bytes, records: 0, rows: 0, deadLettered: 0, filtered: 0 };
  if (batch === undefined || batch.recordBatches.length === 0)
    return { table, snapshot: stager.preview.snapshot, batches: [], keyed: undefined, tail };
  const { result, batches } = await stager.stage(batch, signal);
  return {
    table,
    snapshot: stager.preview.snapshot,
    batches,
    keyed: await withDeletes(components, settings, result.keyed),
    tail: { ...tail, ...countsOf(components, result) },
  };
}

function countsOf({ config }: Components, result: StageResult): Pick<LiveTail, 'records' | 'rows' | 'deadLettered' | 'filtered'> {
  const rejected = countRejected(result.rejects);
  const areLetters = config.ingest.deadLetters.onReject === 'dead-letter';
  return {
    records: countRead(result),
    rows: result.rowCount,
    deadLettered: areLetters ? rejected : 0,
    filtered: countPassedOver(result.passedOver) + (areLetters ? 0 : rejected),
  };
}

/** A table of a pipeline and what fills it. */
export interface FilledTable {
  readonly settings: TableSettings;
  readonly route: RouteSettings;
  readonly table: QueryableTable;
  /** The version that records are to be added to. */
  readonly snapshot: Snapshot;
}

/** Stages records as the ingest would by the route as it is now, for this process alone. */
export interface TailStager {
  /** The table with the columns that the records staged so far have called for. */
  readonly preview: PreviewedTable;
  /** @throws ServiceError `LIVE_READ_SUSPENDED` (invalid), `LIVE_READ_TABLE_CHANGES` (unavailable). */
  stage(batch: SealedBatch, signal: AbortSignal): Promise<{ readonly result: StageResult; readonly batches: readonly ColumnBatch[] }>;
}

/** @throws ServiceError as `DriftWatch.start`. */
export async function tailStager(components: Components, filled: FilledTable, signal: AbortSignal): Promise<TailStager> {
  const { config, logger, registry } = components;
  const { settings, route, table, snapshot } = filled;
  const preview = new PreviewedTable(table, snapshot);
  const evolution = settings.evolve === undefined ? undefined : new TableEvolution(preview, settings.evolve, silentCommitObserver);
  if (evolution !== undefined) await takeDeclared(settings, preview, evolution, signal);
  const drift = new DriftWatch(settings, route, logger);
  let { write, decode } = await drift.start(preview, signal);
  const { deadLetters } = config.ingest;
  const replays = isLetterRoute(route)
    ? undefined
    : replayTarget(deadLetters.replayTopic, { pipeline: config.pipeline, tableId: snapshot.tableId, route });
  const division = route.madeFor === undefined ? route.divided : undefined;
  const stage: TailStager['stage'] = async (batch, stop) => {
    const batches: ColumnBatch[] = [];
    const stager = keepingStager(components, batches);
    try {
      for (let staging = 1; ; staging += 1) {
        const spec = { ...decode, replays, division, evolve: evolution?.spec };
        const result = await withSchemas({ source: registry, signal: stop }, (schemas) => {
          batches.length = 0;
          return stager.stage({ batch, write, decode: { ...spec, schemas }, fileNameStem: 'live' }, stop);
        });
        const { needs } = result;
        if (needs === undefined) {
          refuseSuspending(settings.name, deadLetters.onReject, result);
          return { result, batches };
        }
        if (evolution === undefined || staging >= maxStagings) throw changesTable(settings.name, needs.map(needText).join(', '));
        await evolution.apply(needs, write.schema, stop);
        write = preview.writeSpec(preview.snapshot);
        decode = drift.decodeSpec(write);
      }
    } finally {
      stager.close();
    }
  };
  return { preview, stage };
}

/** A tail that calls for changes of its table is staged so many times at most. */
const maxStagings = 20;

function keepingStager({ config, clock, openEngine }: Components, batches: ColumnBatch[]): InThreadBatchStager {
  const { maxNestingDepth, maxUnpackedBytes } = config.ingest;
  return new InThreadBatchStager({
    ...{ clock, failpoint: inertFailpoint, openEngine, maxNestingDepth, maxUnpackedBytes },
    keepRows: (rows) => {
      batches.push(rows);
    },
  });
}

function refuseSuspending(table: string, onReject: string, { rejects }: StageResult): void {
  const stops = rejects.find(({ suspends }) => onReject === 'suspend' || suspends === true);
  if (stops !== undefined) throw rejectsSuspend(table, `${stops.topic}:${stops.partition}:${stops.offset}, ${stops.message}`);
}

/** What is remembered of deleted keys counts for the rows of the tail, too. */
async function withDeletes(
  { catalog, config, clock, random, openEngine }: Components,
  { keyed: settings }: TableSettings,
  keyed: KeyedRows | undefined,
): Promise<KeyedRows | undefined> {
  if (keyed === undefined || settings?.tombstones === undefined || keyed.empties === true) return keyed;
  const { table, retentionMs } = settings.tombstones;
  const deletes = new TombstoneTable({
    ...{ table: await catalog.load(table), retentionMs, engine: openEngine, clock, random, failpoint: inertFailpoint },
    ...{ observer: silentCommitObserver, settings: config.commit, onRows: () => undefined },
  });
  return { ...keyed, deletes };
}
