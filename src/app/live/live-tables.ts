import { readFileSync } from 'node:fs';
import { AnalysisException } from '../../base/analysis-exception.ts';
import { serviceError } from '../../base/errors.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { parseByteSize, parseDuration } from '../../base/quantities.ts';
import { systemEnvironment } from '../../base/system-environment.ts';
import { buildBatch } from '../../codec/build-columns.ts';
import { loadConfig } from '../../config/load-config.ts';
import { type Config } from '../../config/settings.ts';
import type { Engine, HeldRelation } from '../../engine/engine.ts';
import { mayMake } from '../../ingest/divide/made-name.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { SessionConf } from '../../session/conf/session-conf.ts';
import type { LiveSource, LiveTables } from '../../session/plan/live-table.ts';
import type { Components } from '../components.ts';
import { openComponents } from '../open-components.ts';
import { brokersAtHand } from '../servers.ts';
import { liveCatalogClass } from '../session-catalogs.ts';
import { liveRelation } from './live-relation.ts';
import { type LiveRows, liveRows } from './live-rows.ts';
import { type TailLimits, TailTimeout } from './read-tail.ts';

const defaultMaxBytes = 64 * 1024 * 1024;
const defaultTimeoutMs = 30_000;

/** A pipeline that is open for reads. */
export interface OpenPipeline {
  readonly components: Components;
  close(): Promise<void>;
}

interface LiveCatalog {
  readonly files: readonly string[];
  readonly maxBytes: number | undefined;
  readonly timeoutMs: number | undefined;
}

/** The pipelines whose tables a session reads live, opened when they are first read. */
export class PipelineLiveTables implements LiveTables {
  readonly #catalogs: ReadonlyMap<string, LiveCatalog>;
  readonly #openPipeline: (files: readonly string[]) => OpenPipeline;
  readonly #pipelines = new Map<string, OpenPipeline>();

  /** @param open how a pipeline is opened. Default: by its configuration, with this process's environment. */
  constructor(conf: SessionConf, open: (files: readonly string[]) => OpenPipeline = openPipeline) {
    this.#catalogs = liveCatalogs(conf);
    this.#openPipeline = open;
  }

  has(catalog: string): boolean {
    return this.#catalogs.has(catalog.toLowerCase());
  }

  /** @throws ServiceError `LIVE_READ_TABLE_UNKNOWN` (not-found), and what `liveRows` throws. */
  async open(
    source: LiveSource,
    { engine, signal }: { readonly engine: Engine; readonly signal: AbortSignal | undefined },
  ): Promise<HeldRelation> {
    const catalog = source.pipeline.kind === 'catalog' ? this.#catalogs.get(source.pipeline.name.toLowerCase()) : undefined;
    const files = source.pipeline.kind === 'config' ? source.pipeline.files : (catalog?.files ?? []);
    const limits = {
      maxBytes: source.maxBytes ?? catalog?.maxBytes ?? defaultMaxBytes,
      timeoutMs: source.timeoutMs ?? catalog?.timeoutMs ?? defaultTimeoutMs,
    };
    const { components } = this.#pipelineOf(files);
    const rows = await readWithin(components, source.table, limits, signal);
    return source.tail ? tailRelation(engine, rows, signal) : liveRelation(engine, rows, signal);
  }

  async close(): Promise<void> {
    for (const pipeline of this.#pipelines.values()) await pipeline.close();
    this.#pipelines.clear();
  }

  #pipelineOf(files: readonly string[]): OpenPipeline {
    const name = files.join(',');
    const open = this.#pipelines.get(name) ?? this.#openPipeline(files);
    this.#pipelines.set(name, open);
    return open;
  }
}

function liveCatalogs(conf: SessionConf): ReadonlyMap<string, LiveCatalog> {
  const found = new Map<string, LiveCatalog>();
  for (const [key, value] of conf.below('spark.sql.catalog.')) {
    if (value !== liveCatalogClass) continue;
    const own = conf.below(`spark.sql.catalog.${key}.`);
    const config = own.get('config');
    if (config === undefined) throw withoutConfig(key);
    const [maxBytes, timeout] = [own.get('maxBytes'), own.get('timeout')];
    found.set(key.toLowerCase(), {
      files: config.split(','),
      maxBytes: maxBytes === undefined ? undefined : parseByteSize(maxBytes),
      timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
    });
  }
  return found;
}

/** The time bounds the reading of topics, not the query behind it. */
async function readWithin(components: Components, name: string, limits: TailLimits, signal: AbortSignal | undefined): Promise<LiveRows> {
  const { tables, clock } = components;
  await tables.refresh(() => undefined, signal);
  const named = tables.all.find((table) => table.name === name);
  // A twin has the rows of its leader.
  const settings = named?.twinOf === undefined ? named : tables.all.find((table) => table.name === named.twinOf);
  const route = settings === undefined ? undefined : tables.routeOf(settings.name);
  if (settings === undefined || route === undefined) throw unknownTable(components.config, name);
  const late = new AbortController();
  const done = new AbortController();
  clock.sleep(limits.timeoutMs, done.signal).then(
    () => {
      late.abort(new TailTimeout());
    },
    () => undefined,
  );
  try {
    const stop = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    return await liveRows(components, { settings, route }, limits, stop);
  } finally {
    done.abort();
  }
}

const tailFields: readonly Field[] = [
  { name: 'topic', type: { kind: 'string' }, nullable: false },
  { name: 'partition', type: { kind: 'integer' }, nullable: false },
  { name: 'from_offset', type: { kind: 'long' }, nullable: false },
  { name: 'until_offset', type: { kind: 'long' }, nullable: false },
  { name: 'table_version', type: { kind: 'long' }, nullable: false },
  { name: 'records', type: { kind: 'long' }, nullable: false },
  { name: 'rows', type: { kind: 'long' }, nullable: false },
  { name: 'dead_letters', type: { kind: 'long' }, nullable: false },
  { name: 'filtered', type: { kind: 'long' }, nullable: false },
];

/** A row for each partition, and what became of the records of all of them. */
function tailRelation(engine: Engine, { tail }: LiveRows, signal: AbortSignal | undefined): Promise<HeldRelation> {
  const schema: StructType = { kind: 'struct', fields: tailFields };
  const { records, rows, deadLettered, filtered } = tail;
  const counts = { records: BigInt(records), rows: BigInt(rows), dead_letters: BigInt(deadLettered), filtered: BigInt(filtered) };
  const lines = tail.partitions.map(({ topic, partition, from, until }) => ({
    ...{ topic, partition, from_offset: from, until_offset: until, table_version: BigInt(tail.version) },
    ...counts,
  }));
  const batch: ColumnBatch = buildBatch(schema, lines);
  return engine.hold(schema, [batch], signal);
}

function openPipeline(files: readonly string[]): OpenPipeline {
  const readText = (path: string): string => readFileSync(path, 'utf8');
  const { config } = loadConfig({ files, env: systemEnvironment, workingDir: process.cwd(), readText });
  const components = openComponents({ config, role: 'command', brokers: brokersAtHand(config) });
  return { components, close: () => components.close() };
}

function unknownTable({ pipeline, ingest }: Config, name: string): Error {
  const near = nearestName(
    name,
    ingest.routes.map(({ table }) => table),
  );
  return serviceError.notFound('LIVE_READ_TABLE_UNKNOWN', `pipeline "${pipeline}" has no route into a table "${name}"`, {
    hint: near === undefined ? unknownHint(ingest.routes, name) : `did you mean "${near}"?`,
    context: { table: name },
  });
}

function unknownHint(routes: Config['ingest']['routes'], name: string): string {
  const templates = routes.flatMap(({ divided }) => divided?.spec.template?.table ?? []);
  return templates.some((template) => mayMake(template, name))
    ? 'the table is made when the first record of its key is ingested: run the ingest'
    : 'ingest.routes has the tables that can be read live';
}

function withoutConfig(catalog: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'CATALOG_CONFIGURATION_INVALID',
    message: `spark.sql.catalog.${catalog} is ${liveCatalogClass} and has no configuration of a pipeline`,
    hint: `set spark.sql.catalog.${catalog}.config to the pipeline's configuration file`,
  });
}
