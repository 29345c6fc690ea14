import { pair, type YamlEntry, type YamlScalar } from '../pipeline-yaml.ts';
import type { ConnectorOptions, FateRule } from './connector-options.ts';
import { durationText } from './kafka-client.ts';
import type { RecordDraft } from './record-draft.ts';
import type { PlannedTable, SinkPlan } from './sink-plan.ts';
import { distinctNames, topicsOf } from './topics.ts';

const ofWarehouse = 'tables are written in their store, by no SQL warehouse';
const rules: readonly FateRule[] = [
  { name: 'delta.lake.host.name', fate: 'needless', text: ofWarehouse },
  { name: 'delta.lake.http.path', fate: 'needless', text: ofWarehouse },
  { name: 'delta.lake.token', fate: 'needless', text: ofWarehouse },
  { name: 'delta.lake.catalog', fate: 'unmatched', text: 'no catalog of Databricks is spoken to: tables are opened by their place' },
  { name: 'delta.lake.database', fate: 'unmatched', text: 'no catalog of Databricks is spoken to: tables are opened by their place' },
  {
    name: 'staging.*',
    fate: 'needless',
    text: 'nothing is staged; the store of the tables takes variables of AWS (docs/guides/object-stores.md)',
  },
  { name: 's3.region', fate: 'needless', text: 'of the staging; set AWS_REGION for the store of the tables' },
  { name: 'delta.lake.table.auto.create', fate: 'needless', text: 'a table that is not there is created' },
  { name: 'max.poll.records', fate: 'needless', text: 'records are fetched by bytes' },
];

/** The sink of Confluent for Delta tables of Databricks. */
export function deltaSink(options: ConnectorOptions, draft: RecordDraft): SinkPlan {
  const { topics, pattern, doubts } = topicsOf(options);
  const mapped = new Map(options.takeList('delta.lake.topic2table.map').map((item) => pairOf(item)));
  const format = options.take('delta.lake.table.format') ?? '${topic}';
  const tableOf = (topic: string): string => mapped.get(topic) ?? format.replaceAll('${topic}', draft.topicName(topic));
  const partitions = options.takeList('delta.lake.table2partition.map').map((item) => pairOf(item));
  const tables = topics.length === 0 ? ['first_table'] : [...new Set(topics.map(tableOf))];
  const called = distinctNames(tables);
  const location = options.take('delta.lake.tables.location');
  const evolve = options.takeSwitch('auto.evolve') ?? false;
  const age = durationText(options.take('flush.interval.ms') ?? '', 10, 3_600_000);
  const plan = (table: string, name: string): PlannedTable => ({
    name,
    format: 'delta',
    place: placeOf(options, location, name),
    topics: topics.filter((topic) => tableOf(topic) === table),
    topicPattern: pattern,
    identifierColumns: [],
    partitionedBy: partitions.filter(([of]) => of === table).map(([, column]) => column),
    properties: [],
    evolves: evolve,
    added: [{ name: 'partition', type: { kind: 'integer' }, from: 'partition', note: 'a column that the sink adds' }],
    doubts:
      pattern === undefined ? doubts : [...doubts, 'topics.regex: which tables there are is not to be seen; write one for each topic'],
    remarks: ['CHECK: only an external table, which no catalog of Databricks manages, may be written by others.'],
  });
  const made = tables.map((table, index) => plan(table, called[index] ?? table));
  options.settle(rules);
  return {
    title: 'the Delta Lake sink of Confluent',
    catalogs: [],
    tables: made,
    ingest: age === undefined ? [] : [pair('maxBatchAge', age, 'flush.interval.ms')],
    deadLetters: [],
    otherTables: [],
    group: `connect-${options.name}`,
  };
}

function pairOf(item: string): readonly [string, string] {
  const at = item.lastIndexOf(':');
  return [item.slice(0, at).trim(), item.slice(at + 1).trim()];
}

function placeOf(options: ConnectorOptions, location: string | undefined, name: string): readonly YamlEntry[] {
  const path: YamlScalar =
    location === undefined
      ? { reference: `\${DELTA_TABLES_LOCATION}/${name}` }
      : options.shown('delta.lake.tables.location', `${location.replace(/\/$/, '')}/${name}`);
  if (location === undefined)
    options.variable('DELTA_TABLES_LOCATION', 'where the tables lie: s3://bucket/prefix or a directory; DESCRIBE DETAIL tells');
  return [pair('path', path, location === undefined ? 'CHECK: the sink names tables, not places' : 'delta.lake.tables.location')];
}
