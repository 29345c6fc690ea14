import { printJson } from '../base/bigint-json.ts';
import { printColumnType } from '../expr/parse/column-type.ts';
import type { FoundPayload } from '../ingest/infer/found-payload.ts';
import { type FoundColumn, refusedInNames } from '../ingest/infer/found-row.ts';

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

const plainScalar = /^[A-Za-z_][\w.<>()-]*$/u;
const meaningful = /^(?:null|true|false|yes|no|on|off|y|n)$/iu;

/** The configuration of the pipeline as YAML, with what was found in comments. It is valid as it is when there are columns. */
export function newPipelineYaml(pipeline: NewPipeline): string {
  const { topic, table, format, brokers, registryUrl, payload, basis } = pipeline;
  const { columns, left } = payload.row;
  const lines = [
    '# yaml-language-server: $schema=./config.schema.json',
    '#',
    ...commented(`Made from ${basis}. Read it before it is used: types hold for what was seen.`),
    ...payload.notes.flatMap(commented),
    `pipeline: ${scalar(pipelineName(table))}`,
    '',
    'kafka:',
    `  brokers: [${brokers.map(scalar).join(', ')}]`,
    ...(registryUrl === undefined ? [] : ['', 'schemaRegistry:', `  url: ${scalar(registryUrl)}`]),
    '',
    'tables:',
    `  - name: ${scalar(table)}`,
    `    format: ${format}`,
    `    path: ${scalar(`tables/${table}`)}`,
    ...(columns.length === 0 ? ['    columns: [] # write them: - { name: …, type: … }'] : ['    columns:', ...columns.map(columnLine)]),
    ...left.map(({ name, why }) => `      # ${oneLine(name)}: left out, ${oneLine(why)}`),
    '      # Where each row comes from:',
    '      # - { name: kafka_partition, type: integer, from: partition }',
    '      # - { name: kafka_offset, type: long, from: offset }',
    '',
    'ingest:',
    '  routes:',
    `    - topics: [${scalar(topic)}]`,
    `      table: ${scalar(table)}`,
    ...valueLines(payload),
  ];
  return `${lines.join('\n')}\n`;
}

/** A pipeline may be called less than a table. */
function pipelineName(table: string): string {
  const name = table
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .replaceAll(/^-|-$/gu, '');
  return name === '' ? 'pipeline' : name;
}

function columnLine({ name, type, note }: FoundColumn): string {
  const safe = Array.from(name, (character) => (refusedInNames.test(character) ? '_' : character)).join('');
  const member = safe === name ? '' : `, member: ${scalar(`\`${name.replaceAll('`', '``')}\``)}`;
  const comment = note === undefined ? '' : ` # ${oneLine(note)}`;
  return `      - { name: ${scalar(safe)}, type: ${scalar(printColumnType(type))}${member} }${comment}`;
}

function valueLines({ value }: FoundPayload): readonly string[] {
  if (value.length === 0) return [];
  return [
    '      value:',
    ...value.map(
      ([setting, given]) => `        ${setting}: ${typeof given === 'string' ? scalar(given) : `[${given.map(scalar).join(', ')}]`}`,
    ),
  ];
}

/** JSON's strings are YAML's, too. */
function scalar(text: string): string {
  return plainScalar.test(text) && !meaningful.test(text) ? text : printJson(text);
}

function commented(text: string): readonly string[] {
  return [`# ${oneLine(text)}`];
}

function oneLine(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu, ' ');
}
