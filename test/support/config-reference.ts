import { stringify } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/base/bigint-json.ts';
import { alternativesOf, configJsonSchema } from '../../src/config/json-schema.ts';

const commentWidth = 132;

/** One setting as the reference shows it. */
interface SettingDoc {
  /** `ingest.routes[].topics`. */
  readonly path: string;
  readonly depth: number;
  readonly key: string;
  readonly kind: 'group' | 'list' | 'value';
  readonly schema: JsonObject;
  readonly required: boolean;
  /** Absent unless written: an entry of a list, a member of a group that is off by default. */
  readonly optional: boolean;
}

/** `config/default.yaml`: every setting with its default and what it does. Settings without a default stand in comments. */
export function defaultConfigYaml(): string {
  const lines = [
    '# yaml-language-server: $schema=./config.schema.json',
    '#',
    '# Every setting with its default. Made from the schema by the test of src/config/config-reference.ts; do not edit.',
    '# A value may be ${NAME}, ${NAME:-default} or ${file:/path}; environment variables TIDEWATER__a__b and --set a.b=c override files.',
  ];
  for (const doc of settings()) {
    const indent = '  '.repeat(doc.depth);
    if (doc.depth === 0) lines.push('');
    lines.push(...wrap(commentOf(doc), `${indent}# `));
    const text = yamlLine(doc);
    lines.push(doc.optional || text.startsWith('#') ? `${indent}# ${text.replace(/^# /, '')}` : `${indent}${text}`);
  }
  return `${lines.join('\n')}\n`;
}

/** `docs/reference/configuration.md`: a table of every setting. */
export function configReferenceMarkdown(): string {
  const lines = [
    '# Configuration',
    '',
    'One YAML file, or several of which later ones win, checked against a schema: an unknown key is an error with its position and the nearest known name.',
    'Made from the schema (`tidewater config schema`); do not edit.',
    '',
    '- `${NAME}`, `${NAME:-default}` and `${file:/path}` are replaced inside values; `$${` is a literal `${`.',
    '- The environment variable `TIDEWATER__ingest__maxBatchAge=5s` and the flag `--set ingest.maxBatchAge=5s` override files. Entries of lists are addressed',
    '  by index, name, topic or table, in brackets where it has dots (`--set tables.flights.path=x`, `--set feeds[cdf.orders].envelope=flat`); a value that starts with `[` or `{` is read as YAML; `null` removes the setting.',
    '- Durations have a unit (`500ms`, `30s`, `5m`, `2h`, `7d`), sizes too (`512KiB`, `64MiB`, `1GB`).',
    '- Credentials are never printed: `tidewater config print` shows `***`.',
    '',
    '| Setting | Default | Range | What it does |',
    '|---|---|---|---|',
  ];
  for (const doc of settings()) {
    const shown = doc.required ? '(required)' : defaultText(doc);
    lines.push(`| \`${doc.path}\` | ${cell(shown)} | ${cell(rangeOf(doc.schema))} | ${cell(descriptionOf(doc.schema))} |`);
  }
  return `${lines.join('\n')}\n`;
}

function settings(): readonly SettingDoc[] {
  return [...walk(configJsonSchema(), { path: '', depth: 0, optional: false })];
}

function* walk(schema: JsonObject, above: Pick<SettingDoc, 'path' | 'depth' | 'optional'>): Generator<SettingDoc> {
  const group = alternativesOf(schema).find(({ properties }) => isJsonObject(properties));
  const { properties, required } = group ?? {};
  if (!isJsonObject(properties)) return;
  for (const [key, member] of Object.entries(properties)) {
    if (!isJsonObject(member)) continue;
    const { items } = member;
    const listOfGroups = isJsonObject(items) && isJsonObject(items['properties']);
    const isGroup = isJsonObject(member['properties']) && member['default'] !== undefined;
    const path = above.path === '' ? key : `${above.path}.${key}`;
    const isRequired = Array.isArray(required) && required.includes(key) && member['default'] === undefined;
    const kind = listOfGroups ? 'list' : isGroup ? 'group' : 'value';
    yield { path, depth: above.depth, key, kind, schema: member, required: isRequired, optional: above.optional };
    const below = { path: listOfGroups ? `${path}[]` : path, depth: above.depth + 1, optional: above.optional || !isGroup };
    yield* walk(listOfGroups ? items : member, below);
  }
}

function yamlLine({ key, kind, schema, required }: SettingDoc): string {
  if (required) return `# ${key}:`;
  if (kind === 'group') return `${key}:`;
  const fallback = schema['default'];
  return fallback === undefined ? `# ${key}:` : `${key}: ${stringify(fallback, { collectionStyle: 'flow', lineWidth: 0 }).trim()}`;
}

function commentOf(doc: SettingDoc): string {
  const range = rangeOf(doc.schema);
  const notes = [doc.required ? 'Required.' : '', range === '' ? '' : `Range: ${range}.`];
  return [descriptionOf(doc.schema), ...notes].filter((part) => part !== '').join(' ');
}

function descriptionOf(schema: JsonObject): string {
  const { description } = schema;
  return typeof description === 'string' ? description : '';
}

function defaultText({ kind, schema }: SettingDoc): string {
  const fallback = schema['default'];
  if (kind === 'group' || fallback === undefined) return '';
  return `\`${stringify(fallback, { collectionStyle: 'flow', lineWidth: 0 }).trim()}\``;
}

function rangeOf(schema: JsonObject): string {
  const { minimum, maximum, maxItems } = schema;
  const choices = alternativesOf(schema).find((alternative) => Array.isArray(alternative['enum']))?.['enum'];
  if (Array.isArray(choices)) return choices.map(text).join(', ');
  if (schema['x-min'] !== undefined) return `${text(schema['x-min'])} to ${text(schema['x-max'])}`;
  if (minimum !== undefined)
    return [`${text(minimum)} to ${text(maximum)}`, text(schema['x-unit'])].filter((part) => part !== '').join(' ');
  return maxItems === undefined ? '' : `at most ${text(maxItems)} entries`;
}

function text(value: JsonValue | undefined): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}

function cell(content: string): string {
  return content.replaceAll('|', '\\|');
}

function wrap(content: string, prefix: string): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of content.split(' ').filter((part) => part !== '')) {
    if (line !== '' && prefix.length + line.length + 1 + word.length > commentWidth) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].filter((part) => part !== '').map((part) => `${prefix}${part}`);
}
