import { unsupported } from '../../base/unsupported-feature.ts';
import type { Engine } from '../../engine/engine.ts';
import { defaultTableFormat, isTableFormat, tableFormatNames } from '../../table/formats.ts';
import type { Relation } from '../../table/relation.ts';
import { namePath } from '../column.ts';
import { limitOf } from '../conf/limit-of.ts';
import type { Plan, TableReference } from '../plan/plan.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { invalidArgument, invalidOption } from '../session-errors.ts';
import { formatOf } from '../write/table-format-of.ts';
import { BatchEvaluation, checkedStream } from './batch-evaluation.ts';
import { heldChanges } from './batch-relation.ts';
import { KafkaSink } from './kafka-sink.ts';
import { MemorySink } from './memory-sink.ts';
import { openSinkTable } from './open-sink-table.ts';
import { StreamCheckpoint } from './stream-checkpoint.ts';
import { spelled } from './stream-options.ts';
import { type OutputMode, outputModeOf } from './stream-plan.ts';
import type { StreamSink } from './stream-sink.ts';
import { StreamState } from './stream-state.ts';
import { StreamingQuery, type Trigger } from './streaming-query.ts';
import { TableSink } from './table-sink.ts';

/** As PySpark's keyword arguments: one of them. `processingTime` is text such as `10 seconds`. */
export type TriggerOptions =
  | { readonly processingTime: string }
  | { readonly availableNow: true }
  /** As `availableNow`, in one batch: limits of the source do not count. */
  | { readonly once: true };

/** Called with the rows of each batch, which stand until it resolves, and the batch's id: the same id comes again after a failure. */
export type ForeachBatch<Frame> = (rows: Frame, batchId: number) => void | Promise<void>;

/** What a sink needs of a DataFrame. */
interface Shown {
  show(rows?: number, truncate?: boolean): Promise<void>;
}

interface Settings<Frame> {
  /** Default: the table's, or that of the catalog it is made in. */
  readonly format: string | undefined;
  readonly options: ReadonlyMap<string, string>;
  readonly queryName: string | undefined;
  readonly outputMode: OutputMode;
  readonly trigger: Trigger;
  /** Everything there is in one batch, whatever limits the source was given. */
  readonly unlimited: boolean;
  readonly partitionBy: readonly string[];
  readonly foreachBatch: ForeachBatch<Frame> | undefined;
}

const unset: Omit<Settings<never>, 'foreachBatch'> & { readonly foreachBatch: undefined } = {
  format: undefined,
  options: new Map(),
  queryName: undefined,
  outputMode: 'append',
  trigger: { kind: 'processing-time', intervalMs: 0 },
  unlimited: false,
  partitionBy: [],
  foreachBatch: undefined,
};

/** Groups that an aggregation keeps; with a few aggregates some hundred MB. */
const defaultMaxGroups = 1_000_000;

const noLimits = { maxFilesPerTrigger: Number.MAX_SAFE_INTEGER, maxBytesPerTrigger: undefined, maxRowsPerTrigger: undefined };

/** Options of the formats that a stream is written in; all take a checkpoint's location and a path. */
export const sinkOptions: Readonly<Record<string, readonly string[]>> = {
  delta: ['mergeSchema', 'userMetadata'],
  iceberg: ['mergeSchema', 'merge-schema', 'userMetadata'],
  console: ['numRows', 'truncate'],
  kafka: ['topic', 'kafka.bootstrap.servers'],
};

/**
 * Starts streaming queries: `df.writeStream.format('delta').option('checkpointLocation', dir).start(path)`. Immutable, each setting gives
 * another writer. Formats: `delta` and `iceberg` (exactly once), `memory`, `console`, `kafka` (one transaction for each batch), and `foreachBatch`.
 */
export class DataStreamWriter<Frame extends Shown> {
  readonly #runtime: SessionRuntime;
  readonly #plan: Plan;
  readonly #frameOf: (plan: Plan) => Frame;
  readonly #settings: Settings<Frame>;

  /** @param frameOf makes the DataFrames that batches are given as. */
  constructor(runtime: SessionRuntime, plan: Plan, frameOf: (plan: Plan) => Frame, settings: Settings<Frame> = unset) {
    this.#runtime = runtime;
    this.#plan = plan;
    this.#frameOf = frameOf;
    this.#settings = settings;
  }

  format(name: string): DataStreamWriter<Frame> {
    return this.#with({ format: name.toLowerCase() });
  }

  /**
   * What of an aggregation the sink is given with each batch: with `complete` all groups, which replace the rows of a table; with `update` those
   * that the batch changed. Default `append`, for queries without aggregations.
   *
   * @throws AnalysisException `STREAMING_OUTPUT_MODE.INVALID`.
   */
  outputMode(mode: string): DataStreamWriter<Frame> {
    return this.#with({ outputMode: outputModeOf(mode) });
  }

  option(name: string, value: string | number | bigint | boolean): DataStreamWriter<Frame> {
    return this.#with({ options: new Map([...this.#settings.options, [name, String(value)]]) });
  }

  options(values: Readonly<Record<string, string | number | bigint | boolean>>): DataStreamWriter<Frame> {
    return Object.entries(values).reduce<DataStreamWriter<Frame>>((writer, [name, value]) => writer.option(name, value), this);
  }

  /** Names the query, and the view of a memory sink. */
  queryName(name: string): DataStreamWriter<Frame> {
    return this.#with({ queryName: name });
  }

  /** Default: a batch as soon as there is something. @throws AnalysisException for an interval that cannot be read. */
  trigger(options: TriggerOptions): DataStreamWriter<Frame> {
    if (!('processingTime' in options)) return this.#with({ trigger: { kind: 'available-now' }, unlimited: 'once' in options });
    return this.#with({ trigger: { kind: 'processing-time', intervalMs: intervalOf(options.processingTime) }, unlimited: false });
  }

  /** Of a table that the query creates. */
  partitionBy(...columns: readonly string[]): DataStreamWriter<Frame> {
    return this.#with({ partitionBy: columns });
  }

  foreachBatch(work: ForeachBatch<Frame>): DataStreamWriter<Frame> {
    return this.#with({ foreachBatch: work, format: 'foreachbatch' });
  }

  /** Appends to a table of the catalog, made when there is none. */
  toTable(name: string): Promise<StreamingQuery> {
    return this.#start(this.#runtime.tables.referenceOf(namePath(name)));
  }

  /**
   * Starts the query; a query of the same checkpoint goes on where it was. Stop it with `stop()`, or with the session.
   *
   * @param path the table's directory, for tables.
   * @throws AnalysisException for a sink or options that cannot be, `STREAMING_OPERATION_NOT_SUPPORTED`, and what opening the source throws.
   */
  start(path?: string): Promise<StreamingQuery> {
    const given = path ?? this.#settings.options.get('path');
    return this.#start(
      given === undefined ? undefined : { kind: 'path', format: this.#settings.format ?? defaultTableFormat, path: given },
    );
  }

  async #start(target: TableReference | undefined): Promise<StreamingQuery> {
    const runtime = this.#runtime;
    runtime.assertRunning();
    const { format = defaultTableFormat } = this.#settings;
    const known = ['checkpointLocation', 'path', ...(sinkOptions[format] ?? [])];
    const options = spelled(this.#settings.options, known, `writing a stream to ${format}`);
    const mode = this.#settings.outputMode;
    const stream =
      (await checkedStream(runtime, this.#plan, mode)) ?? fail('this DataFrame reads no stream: begin with session.readStream');
    const table = await runtime.tables.load(stream.reference);
    const source = await table.openStream(this.#settings.unlimited ? { ...stream.options, ...noLimits } : stream.options);
    const engine = await runtime.openEngine();
    const sink = this.#sink(engine, options, target);
    const store = runtime.openStore(this.#checkpointLocation(options));
    const checkpoint = new StreamCheckpoint(store);
    const maxGroups = limitOf(runtime.conf, 'tidewater.streaming.maxStateGroups', defaultMaxGroups);
    const evaluation = new BatchEvaluation({ runtime, plan: this.#plan, stream, mode, state: new StreamState(store), maxGroups });
    const query = new StreamingQuery({
      name: this.#settings.queryName,
      runId: runtime.ids.uuid(),
      queryId: await checkpoint.queryId(runtime.ids.uuid()),
      source,
      read: async (range, signal) => heldChanges(engine, await source.batch(range, signal), source, signal),
      evaluation,
      sink,
      checkpoint,
      trigger: this.#settings.trigger,
      engine,
      clock: runtime.clock,
    });
    runtime.queries.add(query);
    return query.start();
  }

  #sink(engine: Engine, options: ReadonlyMap<string, string>, target: TableReference | undefined): StreamSink {
    const { format = defaultTableFormat, queryName, foreachBatch } = this.#settings;
    switch (format) {
      case 'foreachbatch':
        return foreachSink(this.#frameOf, foreachBatch ?? fail('foreachBatch() needs a function'));
      case 'memory':
        return this.#memorySink(engine, queryName ?? fail('a memory sink needs queryName(), which names its view'));
      case 'console':
        return consoleSink({ print: this.#runtime.print, frameOf: this.#frameOf }, options);
      case 'kafka':
        return this.#kafkaSink(engine, options);
      default:
        if (isTableFormat(format)) return this.#tableSink(options, target ?? fail('start() needs a path, or use toTable(name)'));
        throw unsupported(
          `streaming to format "${format}"`,
          `formats: ${tableFormatNames.join(', ')}, memory, console, kafka, and foreachBatch()`,
        );
    }
  }

  #memorySink(engine: Engine, name: string): MemorySink {
    const publish = (relation: Relation): void => {
      this.#runtime.views.set(name.toLowerCase(), { kind: 'kept', relation });
    };
    return new MemorySink({ engine, publish, replaces: this.#settings.outputMode === 'complete' });
  }

  #kafkaSink(engine: Engine, options: ReadonlyMap<string, string>): KafkaSink {
    const servers = options.get('kafka.bootstrap.servers') ?? fail("the Kafka sink needs the option 'kafka.bootstrap.servers'");
    const open = this.#runtime.openKafka;
    if (open === undefined) throw unsupported('the Kafka sink in this session', 'make the session with Session.builder()');
    return new KafkaSink({ client: open(servers), engine, topic: options.get('topic'), now: () => this.#runtime.clock.now() });
  }

  #tableSink(options: ReadonlyMap<string, string>, reference: TableReference): TableSink {
    const runtime = this.#runtime;
    const { partitionBy, outputMode } = this.#settings;
    const format = formatOf(runtime, reference, this.#settings.format);
    if (outputMode === 'update')
      throw unsupported(`output mode "update" of a sink of format ${format}`, 'use complete, or MERGE in foreachBatch');
    const location = reference.kind === 'path' ? runtime.tables.absolutePath(reference.path) : reference.parts.join('.');
    return new TableSink({
      format,
      location: reference.kind === 'path' ? `file:${location}` : location,
      open: (batch) => openSinkTable(runtime, { reference, format, partitionBy, schema: batch.rows.schema }),
      replaces: outputMode === 'complete',
      mergeSchema: (options.get('mergeSchema') ?? options.get('merge-schema'))?.toLowerCase() === 'true',
      userMetadata: options.get('userMetadata'),
      partitionBy: partitionBy.length === 0 ? undefined : partitionBy,
    });
  }

  /** Sinks that keep nothing may go without a checkpoint: theirs ends with the process. */
  #checkpointLocation(options: ReadonlyMap<string, string>): string {
    const given = options.get('checkpointLocation');
    if (given !== undefined) return this.#runtime.tables.absolutePath(given);
    const { format, queryName } = this.#settings;
    const parent = this.#runtime.conf.find('spark.sql.streaming.checkpointLocation');
    if (parent !== undefined) {
      return this.#runtime.tables.absolutePath(`${parent.replace(/\/+$/, '')}/${queryName ?? this.#runtime.ids.uuid()}`);
    }
    if (format === 'memory' || format === 'console' || format === 'foreachbatch') return `memory://stream-${this.#runtime.ids.uuid()}`;
    return fail("a checkpoint location must be given with the option 'checkpointLocation'");
  }

  #with(change: Partial<Settings<Frame>>): DataStreamWriter<Frame> {
    return new DataStreamWriter(this.#runtime, this.#plan, this.#frameOf, { ...this.#settings, ...change });
  }
}

function foreachSink<Frame>(frameOf: (plan: Plan) => Frame, work: ForeachBatch<Frame>): StreamSink {
  return {
    description: 'ForeachBatchSink',
    add: async ({ rows, batchId }) => {
      await work(frameOf({ kind: 'kept', relation: rows }), batchId);
      return undefined;
    },
  };
}

function consoleSink(
  parts: { readonly print: (text: string) => void; readonly frameOf: (plan: Plan) => Shown },
  options: ReadonlyMap<string, string>,
): StreamSink {
  const rows = Number(options.get('numRows') ?? 20);
  const truncate = options.get('truncate')?.toLowerCase() !== 'false';
  if (!Number.isSafeInteger(rows) || rows < 1)
    throw invalidOption('numRows', options.get('numRows') ?? '', 'it must be a positive whole number');
  return {
    description: `ConsoleTable[numRows=${rows}, truncate=${String(truncate)}]`,
    add: async (batch) => {
      parts.print(`-------------------------------------------\nBatch: ${batch.batchId}\n-------------------------------------------`);
      await parts.frameOf({ kind: 'kept', relation: batch.rows }).show(rows, truncate);
      return undefined;
    },
  };
}

/** Milliseconds of `10 seconds`, `1 minute`, `500 milliseconds`, `0`. */
function intervalOf(text: string): number {
  const units: Readonly<Record<string, number>> = { millisecond: 1, second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };
  const [, count, unit] = /^\s*(?:interval\s+)?(\d{1,9})\s*([a-z]*?)s?\s*$/i.exec(text) ?? [];
  if (count === '0') return 0;
  const factor = units[(unit ?? '').toLowerCase()];
  if (count === undefined || factor === undefined)
    throw invalidOption('processingTime', text, 'it must be an interval such as "10 seconds"');
  return Number(count) * factor;
}

function fail(what: string): never {
  throw invalidArgument(what);
}
