import { printJson } from '../base/bigint-json.ts';

/** Text in which `${NAME}` is meant as a reference (`substitution.ts`); in other texts it is not. */
interface Reference {
  readonly reference: string;
}

export type YamlScalar = string | number | boolean | Reference;
export type YamlValue = YamlScalar | readonly YamlScalar[];

/** What stands in a map of a configuration file, in order. Notes are comments behind a line. */
export type YamlEntry =
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'gap' }
  | { readonly kind: 'value'; readonly key: string; readonly value: YamlValue; readonly note?: string | undefined }
  | { readonly kind: 'map'; readonly key: string; readonly entries: readonly YamlEntry[]; readonly note?: string | undefined }
  | { readonly kind: 'list'; readonly key: string; readonly items: readonly YamlItem[]; readonly note?: string | undefined };

/** What stands in a list. */
export type YamlItem =
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'text'; readonly text: YamlScalar; readonly note?: string | undefined }
  | { readonly kind: 'map'; readonly entries: readonly YamlEntry[] }
  /** A map in one line. */
  | { readonly kind: 'line'; readonly members: readonly (readonly [string, YamlScalar])[]; readonly note?: string | undefined };

export const gap: YamlEntry = { kind: 'gap' };

export function comment(text: string): { readonly kind: 'comment'; readonly text: string } {
  return { kind: 'comment', text };
}

export function pair(key: string, value: YamlValue, note?: string): YamlEntry {
  return { kind: 'value', key, value, note };
}

export function map(key: string, entries: readonly YamlEntry[], note?: string): YamlEntry {
  return { kind: 'map', key, entries, note };
}

export function list(key: string, items: readonly YamlItem[], note?: string): YamlEntry {
  return { kind: 'list', key, items, note };
}

/** The text of a configuration file. Whatever texts and comments hold, it is YAML of these entries. */
export function printPipeline(entries: readonly YamlEntry[]): string {
  return `${linesOf(entries, '').join('\n')}\n`;
}

/** What a pipeline may be called that is made for something of this name. */
export function pipelineName(from: string): string {
  const name = from
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .slice(0, 63)
    .replaceAll(/^-|-$/gu, '');
  return name === '' ? 'pipeline' : name;
}

function linesOf(entries: readonly YamlEntry[], indent: string): readonly string[] {
  return entries.flatMap((entry) => entryLines(entry, indent));
}

function entryLines(entry: YamlEntry, indent: string): readonly string[] {
  switch (entry.kind) {
    case 'comment':
      return [commentLine(entry.text, indent)];
    case 'gap':
      return [''];
    case 'value':
      return [`${indent}${scalar(entry.key)}: ${valueText(entry.value)}${noteText(entry.note)}`];
    case 'map':
      return [`${indent}${scalar(entry.key)}:${noteText(entry.note)}`, ...linesOf(entry.entries, `${indent}  `)];
    case 'list':
      return entry.items.every(({ kind }) => kind === 'comment')
        ? [`${indent}${scalar(entry.key)}: []${noteText(entry.note)}`, ...entry.items.flatMap((item) => itemLines(item, `${indent}  `))]
        : [`${indent}${scalar(entry.key)}:${noteText(entry.note)}`, ...entry.items.flatMap((item) => itemLines(item, `${indent}  `))];
  }
}

function itemLines(item: YamlItem, indent: string): readonly string[] {
  switch (item.kind) {
    case 'comment':
      return [commentLine(item.text, indent)];
    case 'text':
      return [`${indent}- ${valueText(item.text)}${noteText(item.note)}`];
    case 'line':
      return [`${indent}- { ${item.members.map(([key, value]) => `${key}: ${valueText(value)}`).join(', ')} }${noteText(item.note)}`];
    case 'map': {
      const [first = '', ...others] = linesOf(item.entries, `${indent}  `);
      return [`${indent}- ${first.trimStart()}`, ...others];
    }
  }
}

function valueText(value: YamlValue): string {
  if (typeof value === 'string') return scalar(value.replaceAll('${', () => '$${'));
  if (typeof value !== 'object') return String(value);
  if ('reference' in value) return printJson(value.reference);
  return `[${value.map(valueText).join(', ')}]`;
}

const plainScalar = /^[A-Za-z_][\w.<>()-]*$/u;
const meaningful = /^(?:null|true|false|yes|no|on|off|y|n)$/iu;

/** JSON's strings are YAML's, too. */
function scalar(text: string): string {
  return plainScalar.test(text) && !meaningful.test(text) ? text : printJson(text);
}

function noteText(note: string | undefined): string {
  return note === undefined ? '' : ` # ${oneLine(note)}`;
}

function commentLine(text: string, indent: string): string {
  return `${indent}# ${oneLine(text)}`.trimEnd();
}

function oneLine(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu, ' ');
}
