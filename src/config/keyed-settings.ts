import type { ColumnSettings } from '../ingest/column-settings.ts';
import { type DeleteWhen, type KeyedSettings, keyTypes } from '../ingest/keyed/deleted-keys.ts';
import type { RouteSettings } from '../ingest/settings.ts';
import { isTransform } from '../ingest/transform/transform-settings.ts';
import type { ConfigIssue } from './config-issues.ts';
import type { ConfigPath } from './config-node.ts';
import type { Config } from './settings.ts';
import type { TableSettings } from './table-settings.ts';

/** What a table has one row for each of, as far as its own settings say. */
export interface KeyedTableSettings {
  readonly keyColumns: readonly string[];
  /** `undefined`: as the values of its route are. */
  readonly deleteWhen: DeleteWhen | undefined;
}

type Report = (path: readonly (string | number)[], message: string) => void;

/** `undefined`: the table has one row for each record. */
export function keyedTableSettings(
  raw: {
    readonly mode: 'append' | 'upsert';
    readonly keyColumns: readonly string[];
    readonly deleteWhen?: string | undefined;
    readonly identifierColumns: readonly string[];
    readonly evolve: { readonly relaxRequired: boolean };
    readonly columns: readonly ColumnSettings[];
  },
  report: Report,
): KeyedTableSettings | undefined {
  const { mode, keyColumns, deleteWhen, columns } = raw;
  if (mode === 'append') {
    if (keyColumns.length > 0) report(['keyColumns'], 'is only for tables of mode upsert');
    if (deleteWhen !== undefined) report(['deleteWhen'], 'is only for tables of mode upsert');
    return undefined;
  }
  if (keyColumns.length === 0) report(['mode'], 'upsert needs the columns that make up the key: keyColumns');
  keyColumns.forEach((name, index) => {
    const column = columns.find((candidate) => candidate.name === name);
    if (column === undefined) report(['keyColumns', index], `"${name}" is no column of the table`);
    else if (column.nullable) report(['keyColumns', index], `"${name}" must be required (nullable: false)`);
    else if (!keyTypes.has(column.type.kind))
      report(['keyColumns', index], `"${name}" has type ${column.type.kind}, which no key can have`);
    if (keyColumns.indexOf(name) < index) report(['keyColumns', index], `"${name}" is there twice`);
  });
  const { identifierColumns } = raw;
  if (identifierColumns.length > 0 && identifierColumns.toSorted().join('\0') !== keyColumns.toSorted().join('\0'))
    report(['identifierColumns'], 'are the keyColumns of a table of mode upsert; leave them out');
  if (raw.evolve.relaxRequired) report(['evolve', 'relaxRequired'], 'is not for tables of mode upsert: a key is never null');
  return { keyColumns, deleteWhen: deleteWhen === undefined ? undefined : parseDeleteWhen(deleteWhen) };
}

function parseDeleteWhen(text: string): DeleteWhen {
  const word = text.trim();
  return word === 'operation' || word === 'tombstone' || word === 'never' ? { kind: word } : { kind: 'condition', condition: text };
}

/** How the records of a route fill a keyed table. */
export function keyedSettingsOf({ keyColumns, deleteWhen }: KeyedTableSettings, { value }: Pick<RouteSettings, 'value'>): KeyedSettings {
  return { keyColumns, deleteWhen: deleteWhen ?? { kind: value.envelope === undefined ? 'never' : 'operation' } };
}

/** What only the table and its route say together. */
export function keyedIssues({ tables, ingest }: Config): readonly ConfigIssue[] {
  return tables.flatMap((table, index) => {
    const { keyed } = table;
    if (keyed === undefined) return [];
    const path = ['tables', index];
    const route = ingest.routes.find((candidate) => candidate.table === table.name);
    return route === undefined
      ? [issue([...path, 'mode'], 'upsert is how records fill a table, and no route does; leave it out')]
      : routeProblems(table, keyed, route).map(([key, message]) => issue([...path, key], message));
  });
}

function routeProblems(
  table: TableSettings,
  keyed: KeyedTableSettings,
  route: RouteSettings,
): readonly (readonly [key: string, message: string])[] {
  const { deleteWhen } = keyedSettingsOf(keyed, route);
  const found: (readonly [string, string])[] = [];
  if (route.value.kind === 'letter') found.push(['mode', 'dead letters have no keys; their table is of mode append']);
  if (deleteWhen.kind === 'operation' && route.value.envelope !== 'debezium')
    found.push(['deleteWhen', 'operation is that of a change event, and the route has no value.envelope: debezium']);
  if (deleteWhen.kind !== 'tombstone') return found;
  if (isTransform(route)) found.push(['deleteWhen', 'tombstone does not go together with columns, select, where or expect of the route']);
  const ofValue = keyed.keyColumns.filter((name) => (table.sources.get(name)?.kind ?? 'value') === 'value');
  if (ofValue.length > 0)
    found.push(['deleteWhen', `a tombstone has only its key: ${ofValue.map((name) => `"${name}"`).join(', ')} must be \`from: key\``]);
  return found;
}

function issue(path: ConfigPath, message: string): ConfigIssue {
  return { code: 'CONFIG_INVALID', path, message };
}
