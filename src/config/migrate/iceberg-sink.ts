import { isServiceError } from '../../base/errors.ts';
import { quoted, textLiteral } from '../../session/execute/sql-text.ts';
import { parsePartitionText } from '../partition-item.ts';
import { gap, list, pair, type YamlEntry } from '../pipeline-yaml.ts';
import type { ConnectorOptions, FateRule } from './connector-options.ts';
import { listOf } from './connector-options.ts';
import { catalogEntries } from './iceberg-catalog.ts';
import { durationText } from './kafka-client.ts';
import { invalid } from './read-connector.ts';
import type { RecordDraft } from './record-draft.ts';
import type { PlannedCondition, PlannedTable, SinkPlan } from './sink-plan.ts';
import { tableNames, topicsOf } from './topics.ts';

const rules: readonly FateRule[] = [
  { name: 'iceberg.control.commit.timeout-ms', fate: 'needless', text: 'no other tasks are waited for' },
  { name: 'iceberg.control.commit.threads', fate: 'needless', text: 'each table commits by itself' },
  {
    name: 'iceberg.control.commit.max-consecutive-failures',
    fate: 'needless',
    text: 'commit.maxRebaseAttempts and commit.verifyTimeout bound what is tried',
  },
  { name: 'iceberg.control.*', fate: 'needless', text: 'there is no control topic: offsets are committed with the rows' },
  { name: 'iceberg.connect.group-id', fate: 'needless', text: 'offsets are in the table' },
  { name: 'iceberg.coordinator.*', fate: 'needless', text: 'there is no coordinator' },
  {
    name: 'iceberg.hadoop-conf-dir',
    fate: 'unmatched',
    text: 'no files of Hadoop are read: settings of stores are s3.… of the catalog, or variables of AWS',
  },
  { name: 'iceberg.tables.schema-force-optional', fate: 'needless', text: 'columns may be null unless nullable: false says otherwise' },
  {
    name: 'iceberg.tables.schema-case-insensitive',
    fate: 'unmatched',
    text: 'members are found by their exact names; a column takes one of another case with member',
  },
  { name: 'iceberg.tables.replace-null-with-default', fate: 'unmatched', text: 'nulls are kept as they are' },
];

/** Of a pipeline. */
const maxTables = 256;

/** The sink of Apache Iceberg, and its older one of Tabular. */
export function icebergSink(options: ConnectorOptions, draft: RecordDraft): SinkPlan {
  const catalog = options.take('iceberg.catalog') ?? 'iceberg';
  const catalogName = /^[a-zA-Z0-9_][a-zA-Z0-9_-]*$/.test(catalog) ? catalog : 'iceberg';
  const shared = sharedSettings(options, draft);
  const names = [...new Set(options.takeList('iceberg.tables'))];
  const isDynamic = options.takeSwitch('iceberg.tables.dynamic-enabled') === true;
  const routeField = options.take('iceberg.tables.route-field');
  if (names.length === 0 && !isDynamic)
    throw invalid(
      'the sink has neither iceberg.tables nor iceberg.tables.dynamic-enabled',
      'give a configuration that the sink starts with',
    );
  if (names.length > maxTables)
    throw invalid(
      `the sink has ${names.length} tables, and a pipeline at most ${maxTables}`,
      'give several configurations, with some of the tables each',
    );
  const topics = topicsOf(options);
  const called = tableNames(names);
  const tables = isDynamic
    ? [dynamicTable({ shared, topics, routeField, catalog: catalogName })]
    : names.map((identifier, index) =>
        staticTable(options, { ...shared, topics, routeField, catalog: catalogName, identifier, name: called[index] ?? identifier }),
      );
  const interval = 'iceberg.control.commit.interval-ms';
  const every = options.take(interval);
  const age = every === undefined ? undefined : durationText(every, 10, 3_600_000);
  const group = groupOf(options);
  options.settle(rules);
  return {
    title: 'the sink of Apache Iceberg',
    catalogs: [gap, list('catalogs', [{ kind: 'map', entries: catalogEntries(options, catalogName) }])],
    tables,
    ingest: age === undefined ? [] : [pair('maxBatchAge', age, `${interval}; the sink's default was 5m, here it is 1s`)],
    deadLetters: [],
    otherTables: [],
    group,
  };
}

/** Where the offsets are that the sink goes on from: Tabular's has a group of its own for them. */
function groupOf(options: ConnectorOptions): string {
  const isOlder = options.className.startsWith('io.tabular.');
  const [option, fallback] = isOlder ? ['iceberg.control.group-id', 'cg-control-'] : ['iceberg.connect.group-id', 'connect-'];
  const group = options.take(option);
  if (group !== undefined) options.note(option, 'needless', 'offsets are in the table');
  return group ?? fallback + options.name;
}

interface Shared {
  readonly evolves: boolean;
  readonly creates: boolean;
  readonly properties: PlannedTable['properties'];
  readonly idColumns: string | undefined;
  readonly partitionBy: string | undefined;
  readonly branch: string | undefined;
  readonly doubts: readonly string[];
}

function sharedSettings(options: ConnectorOptions, draft: RecordDraft): Shared {
  const property = (prefix: string): PlannedTable['properties'] =>
    options.takeBelow(prefix).map(([key, text]) => [key, options.shown(prefix + key, text), prefix + key] as const);
  const doubts: string[] = [];
  const operation = options.take('iceberg.tables.cdc-field');
  if (operation !== undefined) {
    options.note(
      'iceberg.tables.cdc-field',
      'refused',
      `rows are appended, and nothing updates or deletes by ${operation}: keep the changes, and MERGE them into another table`,
    );
    doubts.push(`iceberg.tables.cdc-field: rows with ${operation} would be appended`);
  }
  if (options.takeSwitch('iceberg.tables.upsert-mode-enabled') === true) {
    options.note(
      'iceberg.tables.upsert-mode-enabled',
      'refused',
      'rows are appended: keep all, and read the newest of each key, or MERGE them into another table',
    );
    doubts.push('iceberg.tables.upsert-mode-enabled: rows would be appended, not replaced');
  }
  draft.doubts.push(...doubts);
  return {
    evolves: options.takeSwitch('iceberg.tables.evolve-schema-enabled') === true,
    creates: options.takeSwitch('iceberg.tables.auto-create-enabled') === true,
    properties: [
      ...property('iceberg.tables.auto-create-props.'),
      ...property('iceberg.tables.write-props.'),
      ...property('iceberg.table.write-props.'),
    ],
    idColumns: options.take('iceberg.tables.default-id-columns'),
    partitionBy: options.take('iceberg.tables.default-partition-by'),
    branch: options.take('iceberg.tables.default-commit-branch'),
    doubts: [],
  };
}

interface StaticTable extends Shared {
  readonly topics: ReturnType<typeof topicsOf>;
  readonly routeField: string | undefined;
  readonly catalog: string;
  readonly identifier: string;
  readonly name: string;
}

function staticTable(options: ConnectorOptions, table: StaticTable): PlannedTable {
  const { identifier, name, routeField, topics, catalog } = table;
  const prefix = `iceberg.table.${identifier}.`;
  const regex = options.take(`${prefix}route-regex`);
  const branch = options.take(`${prefix}commit-branch`) ?? table.branch;
  const doubts: string[] = [...topics.doubts];
  if (branch !== undefined && branch !== 'main') {
    options.note(
      `${prefix}commit-branch`,
      'refused',
      `commits are to main, not to "${branch}"; publish a branch by fast_forward, or audit with expect`,
    );
    doubts.push(`commits were to the branch ${branch}`);
  }
  const condition = routeField === undefined || regex === undefined ? undefined : routeCondition(routeField, regex, `${prefix}route-regex`);
  if (routeField === undefined && regex !== undefined)
    options.note(`${prefix}route-regex`, 'needless', 'without iceberg.tables.route-field it says nothing');
  if (routeField !== undefined && regex === undefined) doubts.push(`the table has no route-regex, and the sink wrote it no record`);
  return {
    name,
    format: 'iceberg',
    place: placeOf(catalog, identifier),
    topics: topics.topics,
    topicPattern: topics.pattern,
    condition,
    identifierColumns: listOf(options.take(`${prefix}id-columns`) ?? table.idColumns ?? ''),
    partitionedBy: partitionsOf(options, options.take(`${prefix}partition-by`) ?? table.partitionBy ?? '', `${prefix}partition-by`),
    properties: table.properties,
    evolves: table.evolves,
    added: [],
    doubts,
    remarks: table.creates ? [] : ['The table is there already; what is declared here is compared with it.'],
  };
}

/** Tables by a field of the records: which there are is not to be seen from the options. */
function dynamicTable(parts: {
  readonly shared: Shared;
  readonly topics: ReturnType<typeof topicsOf>;
  readonly routeField: string | undefined;
  readonly catalog: string;
}): PlannedTable {
  const { shared, topics, catalog } = parts;
  const routeField = parts.routeField ?? 'table';
  return {
    name: 'first_table',
    format: 'iceberg',
    place: placeOf(catalog, 'default.first_table'),
    topics: topics.topics,
    topicPattern: topics.pattern,
    identifierColumns: listOf(shared.idColumns ?? ''),
    partitionedBy: [],
    properties: shared.properties,
    evolves: shared.evolves,
    added: [],
    doubts: [...topics.doubts, `iceberg.tables.dynamic-enabled: the tables are named by the field ${routeField}`],
    remarks: [
      `CHECK: the sink took the table of each record from its field ${routeField} (dynamic-enabled). Here each table is declared, with a route of its own:`,
      `copy this table and its route for each, with where: lower(${routeField}) = 'default.first_table'.`,
    ],
  };
}

function placeOf(catalog: string, identifier: string): readonly YamlEntry[] {
  return [pair('catalog', catalog), pair('identifier', identifier, 'iceberg.tables')];
}

/** The sink takes whole values that match, and none of records without the field. */
function routeCondition(field: string, regex: string, option: string): PlannedCondition {
  const [first = field, ...inner] = field.split('.');
  const path = [first, ...inner].map(quoted).join('.');
  const type = inner.reduceRight<PlannedCondition['needs'][number]['type']>(
    (within, name) => ({ kind: 'struct', fields: [{ name, type: within, nullable: true }] }),
    { kind: 'string' },
  );
  const sql = /^[\w -]+$/.test(regex) ? `${path} = ${textLiteral(regex)}` : `${path} RLIKE ${textLiteral(`^(?:${regex})$`)}`;
  return { sql, needs: [{ name: first, type, note: 'iceberg.tables.route-field; CHECK its type' }], note: option };
}

const plurals: Readonly<Record<string, string>> = {
  years: 'year',
  months: 'month',
  days: 'day',
  hours: 'hour',
  date: 'day',
  date_hour: 'hour',
};

/** Transforms are called otherwise in places, and take their number last. */
function partitionsOf(options: ConnectorOptions, text: string, option: string): readonly string[] {
  return text.split(/,(?![^(]*\))/).flatMap((raw) => {
    const item = raw.trim();
    if (item === '') return [];
    const [, name = '', column, number] = /^(\w+)\(\s*([^,()]+?)\s*(?:,\s*(\d+)\s*)?\)$/.exec(item) ?? [];
    const transform = plurals[name.toLowerCase()] ?? name.toLowerCase();
    const written = column === undefined ? item : `${transform}(${number === undefined ? '' : `${number}, `}${column})`;
    try {
      parsePartitionText(written);
      return [written];
    } catch (error) {
      if (!isServiceError(error, 'invalid')) throw error;
      options.note(option, 'refused', `${item}: ${error.message}`);
      return [];
    }
  });
}
