import { printColumnType } from '../expr/parse/column-type.ts';
import type { FoundPayload } from '../ingest/infer/found-payload.ts';
import { type FoundColumn, refusedInNames } from '../ingest/infer/found-row.ts';
import { comment, gap, list, map, pair, pipelineName, printPipeline, type YamlEntry, type YamlItem } from './pipeline-yaml.ts';

/** A pipeline of one topic to one table, to be written down. */
export interface NewPipeline {
  readonly topic: string;
  readonly table: string;
  readonly format: 'delta' | 'iceberg';
  readonly brokers: readonly string[];
  readonly registryUrl: string | undefined;
  readonly payload: FoundPayload;
  /** What was looked at, for the comment at the top. */
  readonly basis: string;
}

/** The first line of a file, for editors. */
export const schemaLine: YamlEntry = comment('yaml-language-server: $schema=./config.schema.json');

/** The configuration of the pipeline as YAML, with what was found in comments. It is valid as it is when there are columns. */
export function newPipelineYaml(pipeline: NewPipeline): string {
  const { topic, table, format, brokers, registryUrl, payload, basis } = pipeline;
  const { columns, left } = payload.row;
  return printPipeline([
    schemaLine,
    comment(''),
    comment(`Made from ${basis}. Read it before it is used: types hold for what was seen.`),
    ...payload.notes.map(comment),
    pair('pipeline', pipelineName(table)),
    gap,
    map('kafka', [pair('brokers', brokers)]),
    ...(registryUrl === undefined ? [] : [gap, map('schemaRegistry', [pair('url', registryUrl)])]),
    gap,
    list('tables', [
      {
        kind: 'map',
        entries: [
          pair('name', table),
          pair('format', format),
          pair('path', `tables/${table}`),
          list(
            'columns',
            [
              ...columns.map(columnItem),
              ...left.map(({ name, why }) => comment(`${name}: left out, ${why}`)),
              comment('Where each row comes from:'),
              comment('- { name: kafka_partition, type: integer, from: partition }'),
              comment('- { name: kafka_offset, type: long, from: offset }'),
            ],
            columns.length === 0 ? 'write them: - { name: …, type: … }' : undefined,
          ),
        ],
      },
    ]),
    gap,
    map('ingest', [list('routes', [{ kind: 'map', entries: [pair('topics', [topic]), pair('table', table), ...valueEntries(payload)] }])]),
  ]);
}

/** A line of `columns`; a name that tables refuse becomes another, of the same member. */
export function columnItem({ name, type, note }: FoundColumn): YamlItem {
  const safe = Array.from(name, (character) => (refusedInNames.test(character) ? '_' : character)).join('');
  const member = safe === name ? [] : [['member', `\`${name.replaceAll('`', '``')}\``] as const];
  return { kind: 'line', members: [['name', safe], ['type', printColumnType(type)], ...member], note };
}

function valueEntries({ value }: FoundPayload): readonly YamlEntry[] {
  return value.length === 0
    ? []
    : [
        map(
          'value',
          value.map(([setting, given]) => pair(setting, given)),
        ),
      ];
}
