import type { ColumnSettings } from '../ingest/column-settings.ts';
import { type DeleteWhen, type KeyedSettings, keyTypes } from '../ingest/keyed/deleted-keys.ts';
import type { RouteSettings } from '../ingest/settings.ts';

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
