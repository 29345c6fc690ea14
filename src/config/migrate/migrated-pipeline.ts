import { withoutSecrets } from '../../base/redaction.ts';
import { printColumnType } from '../../expr/parse/column-type.ts';
import { traitsOf } from '../../table/formats.ts';
import { schemaLine } from '../new-pipeline.ts';
import {
  comment,
  gap,
  list,
  map,
  pair,
  pipelineName,
  printPipeline,
  type YamlEntry,
  type YamlItem,
  type YamlScalar,
} from '../pipeline-yaml.ts';
import type { ConnectorOptions, Fate } from './connector-options.ts';
import type { KafkaClient } from './kafka-client.ts';
import { type PlannedColumns, planColumns } from './plan-columns.ts';
import type { RecordDraft } from './record-draft.ts';
import type { SinkOffset } from './sink-offsets.ts';
import type { PlannedColumn, PlannedTable, SinkPlan } from './sink-plan.ts';

export interface MigratedParts {
  readonly options: ConnectorOptions;
  readonly draft: RecordDraft;
  readonly plan: SinkPlan;
  readonly client: KafkaClient;
  readonly failures: readonly YamlEntry[];
  readonly registry: readonly YamlEntry[];
  readonly offsets: readonly SinkOffset[] | undefined;
}

/** The configuration as text: what is at its beginning is known when the rest is made. */
export function migratedPipeline(parts: MigratedParts): string {
  const { options, draft, plan, client, failures, registry, offsets } = parts;
  const tables = plan.tables.map((table) => ({ table, columns: planColumns(table, { draft, options, offsets }) }));
  const letters = [...failures, ...plan.deadLetters];
  const body: readonly YamlEntry[] = [
    pair('pipeline', pipelineName(options.name)),
    gap,
    map('kafka', client.kafka),
    ...(registry.length === 0 ? [] : [gap, map('schemaRegistry', registry)]),
    ...plan.catalogs,
    gap,
    list('tables', [
      ...tables.flatMap(({ table, columns }) => [...table.remarks.map(comment), tableItem(table, columns)]),
      ...plan.otherTables.map((entries): YamlItem => ({ kind: 'map', entries })),
    ]),
    gap,
    map('ingest', [
      ...startEntries([...plan.ingest, ...client.ingest], offsets),
      list(
        'routes',
        tables.flatMap(({ table, columns }) => routeItems(table, columns, parts)),
      ),
      ...(letters.length === 0 ? [] : [map('deadLetters', letters)]),
    ]),
  ];
  const head = headEntries(parts);
  const told = printPipeline([...head, ...body]);
  // What a transform has is told with it.
  const untold = options.taken.filter((option) => !told.includes(option) && !/^(?:transforms|predicates)\b/.test(option));
  return printPipeline([
    schemaLine,
    comment(''),
    ...head,
    ...section('Taken in, by lines that do not name them:', untold),
    comment(''),
    ...body,
  ]);
}

const headings: readonly (readonly [Fate, string])[] = [
  ['refused', 'CHECK, refused:'],
  ['doubtful', 'CHECK, for a person to decide:'],
  ['unmatched', 'CHECK, without a counterpart:'],
  ['needless', 'Not needed:'],
];

function headEntries({ options, draft, plan, offsets }: MigratedParts): readonly YamlEntry[] {
  const notes = [...new Map(options.notes.map((note) => [`${note.option} ${note.text}`, note])).values()];
  return [
    comment(`Made from the configuration of "${options.name}", ${plan.title} (${options.className}).`),
    comment(
      'Comments name the options that lines come from; what is marked CHECK needs a person. docs/guides/from-kafka-connect.md tells what differs.',
    ),
    ...section(
      'Variables to set, also for tidewater config validate:',
      [...options.variables].map(([name, why]) => `${name}: ${why}`),
    ),
    ...headings.flatMap(([fate, title]) =>
      section(
        title,
        notes.filter((note) => note.fate === fate).map(({ option, text }) => `${option}: ${text}`),
      ),
    ),
    ...section('CHECK, options that are not known, and of which nothing was made:', options.left),
    ...section('Transforms, in their order:', draft.steps),
    ...beginEntries(plan, offsets),
  ];
}

/** Lines of comment below a title, without what is a secret by its form. */
function section(title: string, lines: readonly string[]): readonly YamlEntry[] {
  return lines.length === 0 ? [] : [comment(''), comment(title), ...lines.map((line) => comment(`  ${withoutSecrets(line)}`))];
}

function beginEntries({ group }: SinkPlan, offsets: MigratedParts['offsets']): readonly YamlEntry[] {
  if (offsets !== undefined)
    return [
      '',
      'Begins behind the offsets that were given. CHECK, before that: the sink has stopped, and its last commit is in the tables.',
    ].map(comment);
  const whose = group === '' ? '' : `, of the group ${group}`;
  return [
    '',
    'CHECK, where to begin: a table without offsets of a topic reads all of it, what the sink has written too. Each route has a',
    `condition that stops it at its first record, to be taken out after the look; or give --offsets with this command${whose}.`,
  ].map(comment);
}

/** Where records begin is said in any case; behind offsets they are read from the beginning. */
function startEntries(entries: readonly YamlEntry[], offsets: MigratedParts['offsets']): readonly YamlEntry[] {
  const others = entries.filter((entry) => entry.kind !== 'value' || entry.key !== 'startFrom');
  if (offsets !== undefined)
    return [pair('startFrom', 'earliest', 'and where of the routes leaves out what the sink has written'), ...others];
  return others.length < entries.length ? entries : [pair('startFrom', 'earliest', 'CHECK: see above'), ...entries];
}

function tableItem(table: PlannedTable, columns: PlannedColumns): YamlItem {
  const { name, format, place, properties } = table;
  const partitionKey = traitsOf[format].partitionTransforms ? 'partitioning' : 'partitionBy';
  const unless = (key: string, values: readonly string[]): readonly YamlEntry[] => {
    if (values.length === 0) return [];
    return columns.has(values.map(sourceOf))
      ? [pair(key, values)]
      : [comment(`CHECK, before the first start: ${key}: [${values.join(', ')}], with its columns declared.`)];
  };
  return {
    kind: 'map',
    entries: [
      pair('name', name),
      pair('format', format),
      ...place,
      ...columns.remarks.map(comment),
      list('columns', columns.table.map(columnItem)),
      ...unless(partitionKey, table.partitionedBy),
      ...unless('identifierColumns', table.identifierColumns),
      ...(properties.length === 0
        ? []
        : [
            map(
              'properties',
              properties.map(([key, value, from]) => pair(key, value, from)),
            ),
          ]),
      ...(columns.isPlaceholder ? [pair('onDrift', 'warn', 'the table as it is, until its columns are declared')] : []),
      ...columns.evolve,
    ],
  };
}

/** The column of an item of a partitioning. */
function sourceOf(item: string): string {
  return /([^(),\s]+)\)?$/.exec(item)?.[1]?.split('.')[0] ?? item;
}

function columnItem({ name, type, from, member, required, note }: PlannedColumn): YamlItem {
  const members: readonly (readonly [string, YamlScalar])[] = [
    ['name', name],
    ['type', printColumnType(type)],
    ...(from === undefined ? [] : [['from', from] as const]),
    ...(member === undefined ? [] : [['member', member] as const]),
    ...(required === true ? [['nullable', false] as const] : []),
  ];
  return { kind: 'line', members, note };
}

function routeItems(table: PlannedTable, columns: PlannedColumns, { draft }: MigratedParts): readonly YamlItem[] {
  const { value } = draft;
  const { conditions, doubts } = columns;
  const where = conditions.length === 1 ? conditions[0]?.sql : conditions.map(({ sql }) => `(${sql})`).join(' AND ');
  return [
    ...doubts.map((doubt) => comment(`CHECK, and take expect out then: ${doubt}`)),
    {
      kind: 'map',
      entries: [
        pair('topics', table.topics),
        ...(table.topicPattern === undefined ? [] : [pair('topicPattern', table.topicPattern.pattern, table.topicPattern.note)]),
        pair('table', table.name),
        ...(value.size === 0
          ? []
          : [
              map(
                'value',
                [...value].map(([key, { setting, note }]) => pair(key, setting, note === '' ? undefined : note)),
              ),
            ]),
        ...(columns.record === undefined ? [] : [list('columns', columns.record.map(columnItem))]),
        ...selectEntries(columns),
        ...(where === undefined || where === '' ? [] : [pair('where', where, conditions.map(({ note }) => note).join('; '))]),
        ...(doubts.length === 0 ? [] : [list('expect', [standStill], 'no row is written before a person has looked')]),
      ],
    },
  ];
}

/** A condition that no row meets. */
const standStill: YamlItem = {
  kind: 'line',
  members: [
    ['name', 'checked'],
    ['condition', '1 = 0'],
    ['onFailure', 'suspend'],
  ],
};

function selectEntries({ select, isPlaceholder }: PlannedColumns): readonly YamlEntry[] {
  if (select === undefined) return [];
  const text = (item: string): YamlItem => ({ kind: 'text', text: item });
  if (!isPlaceholder) return [list('select', select.map(text))];
  const lines = printPipeline([list('select', select.map(text))])
    .trimEnd()
    .split('\n');
  return [comment('When the columns are there, and without evolve:'), ...lines.map(comment)];
}
