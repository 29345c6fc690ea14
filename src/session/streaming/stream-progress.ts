import { type JsonValue, parseJson } from '../../base/bigint-json.ts';

/** How long the phases of one batch took, whole milliseconds, by Spark's names. */
export type PhaseDurations = Readonly<
  Partial<Record<'addBatch' | 'commitOffsets' | 'getBatch' | 'latestOffset' | 'queryPlanning' | 'triggerExecution' | 'walCommit', number>>
>;

/** What one trigger of a streaming query did, as Spark reports it. */
export interface StreamingQueryProgress {
  readonly id: string;
  readonly runId: string;
  readonly name: string | null;
  /** Start of the trigger, ISO 8601 UTC with milliseconds. */
  readonly timestamp: string;
  readonly batchId: number;
  readonly batchDuration: number;
  readonly numInputRows: number;
  readonly inputRowsPerSecond: number;
  readonly processedRowsPerSecond: number;
  readonly durationMs: PhaseDurations;
  /** Of an aggregation: the groups that are kept, and those of them that the batch has rows of. */
  readonly stateOperators: readonly {
    readonly operatorName: string;
    readonly numRowsTotal: number;
    readonly numRowsUpdated: number;
  }[];
  readonly sources: readonly SourceProgress[];
  /** `numOutputRows` is -1 where a sink does not count. */
  readonly sink: { readonly description: string; readonly numOutputRows: number };
}

export interface SourceProgress {
  readonly description: string;
  readonly startOffset: JsonValue;
  /** `null` when there was nothing to read. */
  readonly endOffset: JsonValue;
  readonly latestOffset: null;
  readonly numInputRows: number;
  readonly inputRowsPerSecond: number;
  readonly processedRowsPerSecond: number;
}

export interface TriggerFacts {
  readonly id: string;
  readonly runId: string;
  readonly name: string | undefined;
  readonly startedAtMs: number;
  /** Milliseconds since the trigger before, `undefined` for the first one. */
  readonly sincePreviousMs: number | undefined;
  readonly batchId: number;
  readonly after: string | undefined;
  readonly until: string | undefined;
  readonly inputRows: number;
  readonly durationMs: PhaseDurations;
  readonly source: string;
  readonly sink: string;
  readonly outputRows: number | undefined;
  readonly state: { readonly total: number; readonly updated: number } | undefined;
}

export function progressOf(facts: TriggerFacts): StreamingQueryProgress {
  const tookMs = facts.durationMs.triggerExecution ?? 0;
  const rates = {
    numInputRows: facts.inputRows,
    inputRowsPerSecond: perSecond(facts.inputRows, facts.sincePreviousMs ?? 0),
    processedRowsPerSecond: perSecond(facts.inputRows, tookMs),
  };
  return {
    id: facts.id,
    runId: facts.runId,
    name: facts.name ?? null,
    timestamp: new Date(facts.startedAtMs).toISOString(),
    batchId: facts.batchId,
    batchDuration: tookMs,
    ...rates,
    durationMs: facts.durationMs,
    stateOperators:
      facts.state === undefined
        ? []
        : [{ operatorName: 'stateStoreSave', numRowsTotal: facts.state.total, numRowsUpdated: facts.state.updated }],
    sources: [
      { description: facts.source, startOffset: offset(facts.after), endOffset: offset(facts.until), latestOffset: null, ...rates },
    ],
    sink: { description: facts.sink, numOutputRows: facts.outputRows ?? -1 },
  };
}

function perSecond(rows: number, ms: number): number {
  return ms <= 0 ? 0 : (rows * 1000) / ms;
}

function offset(text: string | undefined): JsonValue {
  return text === undefined ? null : parseJson(text, 'stream offset');
}
