import { inertFailpoint } from '../../base/failpoint.ts';
import { silentCommitObserver } from '../../commit/commit-observer.ts';
import { TombstoneTable } from '../../commit/keyed/tombstone-table.ts';
import { TableEvolution } from '../../commit/table-evolution.ts';
import type { TableSettings } from '../../config/table-settings.ts';
import { isLetterRoute, type RouteSettings } from '../../ingest/settings.ts';
import { countPassedOver, countRead, countRejected, type SealedBatch, type StageResult } from '../../protocol/sealed-batch.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { KeyedRows } from '../../table/keyed.ts';
import type { QueryableTable, Snapshot } from '../../table/table.ts';
import type { Components } from '../components.ts';
import { DriftWatch } from '../drift-watch.ts';
import { replayTarget } from '../route-sources.ts';
import { InThreadBatchStager } from '../workers/batch-stager.ts';
import { withSchemas } from '../workers/with-schemas.ts';
import { changesTable, readTail, rejectsSuspend, type Tail, type TailLimits } from './read-tail.ts';

/** What a batch of the topics' tail makes of a table, and nothing of it is written. */
export interface LiveRows {
  readonly table: QueryableTable;
  readonly snapshot: Snapshot;
  readonly batches: readonly ColumnBatch[];
  /** What the rows say of the keys of a keyed table. */
  readonly keyed: KeyedRows | undefined;
  readonly tail: LiveTail;
}

export interface LiveTail {
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
 * @throws what `readTail` throws; ServiceError `TABLE_DRIFT`, `TRANSFORM_INVALID`, `LIVE_READ_SUSPENDED` (invalid), `LIVE_READ_TABLE_CHANGES`
 * (unavailable).
 */
export async function liveRows(
  components: Components,
  { settings, route }: { readonly settings: TableSettings; readonly route: RouteSettings },
  limits: TailLimits,
  signal: AbortSignal,
): Promise<LiveRows> {
  const { catalog, logger } = components;
  const table = await catalog.load(settings.name, signal);
  const drift = new DriftWatch(settings, route, logger);
  await drift.start(table, signal);
  // What is decoded is of the very version that is read.
  const snapshot = await table.refresh(signal);
  const write = table.writeSpec(snapshot);
  const decode = drift.decodeSpec(write);
  const tail = await readTail(components, { route, snapshot, limits }, signal);
  const { partitions, bytes } = tail;
  const nothing = { partitions, bytes, records: 0, rows: 0, deadLettered: 0, filtered: 0 };
  if (tail.batch === undefined || tail.batch.recordBatches.length === 0)
    return { table, snapshot, batches: [], keyed: undefined, tail: nothing };
  const staged = await stageRecords(components, { settings, route, table, snapshot }, { batch: tail.batch, write, decode }, signal);
  const { result, batches } = staged;
  return {
    table,
    snapshot,
    batches,
    keyed: await withDeletes(components, settings, result.keyed),
    tail: { ...nothing, ...countsOf(components, result) },
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

/** What the records of a batch become, by the route as it is now; nothing is written. */
export async function stageRecords(
  components: Components,
  {
    settings,
    route,
    table,
    snapshot,
  }: { readonly settings: TableSettings; readonly route: RouteSettings; readonly table: QueryableTable; readonly snapshot: Snapshot },
  { batch, write, decode }: { readonly batch: SealedBatch } & Awaited<ReturnType<DriftWatch['start']>>,
  signal: AbortSignal,
): Promise<{ readonly result: StageResult; readonly batches: readonly ColumnBatch[] }> {
  const { config, clock, openEngine, registry } = components;
  const { maxNestingDepth, maxUnpackedBytes, deadLetters } = config.ingest;
  const batches: ColumnBatch[] = [];
  const stager = new InThreadBatchStager({
    ...{ clock, failpoint: inertFailpoint, openEngine, maxNestingDepth, maxUnpackedBytes },
    keepRows: (rows) => {
      batches.push(rows);
    },
  });
  const target = { pipeline: config.pipeline, tableId: snapshot.tableId, route };
  const evolve = settings.evolve === undefined ? undefined : new TableEvolution(table, settings.evolve, silentCommitObserver).spec;
  const spec = {
    ...decode,
    replays: isLetterRoute(route) ? undefined : replayTarget(deadLetters.replayTopic, target),
    division: route.divided,
    evolve,
  };
  try {
    const result = await withSchemas({ source: registry, signal }, (schemas) => {
      batches.length = 0;
      return stager.stage({ batch, write, decode: { ...spec, schemas }, fileNameStem: 'live' }, signal);
    });
    if (result.needs !== undefined) throw changesTable(settings.name, result.needs.map(({ kind }) => kind).join(', '));
    refuseSuspending(settings.name, deadLetters.onReject, result);
    return { result, batches };
  } finally {
    stager.close();
  }
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
