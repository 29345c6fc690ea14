import { rememberedAt, rememberedOn } from '../commit/keyed/tombstone-table.ts';
import type { ColumnSettings } from '../ingest/column-settings.ts';
import { type DeleteWhen, type KeyedSettings, keyTypes } from '../ingest/keyed/deleted-keys.ts';
import type { RouteSettings } from '../ingest/settings.ts';
import type { OnTruncate } from '../protocol/sealed-batch.ts';
import type { ChangeImages } from '../table/keyed.ts';

/** What a table has one row for each of, as far as its own settings say. */
export interface KeyedTableSettings {
  readonly keyColumns: readonly string[];
  /** None: records count in the order they come. */
  readonly orderColumns: readonly string[];
  /** `undefined`: as the values of its route are. */
  readonly deleteWhen: DeleteWhen | undefined;
  /** When the table has several rows of one key before the first record. */
  readonly onRepeatedKeys: 'fail' | 'keep-last';
  /** Mode `patch`: a member that a record does not have leaves the column of its row as it is. */
  readonly patches: boolean;
  readonly onTruncate: OnTruncate;
  /** Deleted keys are remembered so long, in the table of that name. `undefined`: they are not. */
  readonly tombstones: { readonly retentionMs: number; readonly table: string } | undefined;
  readonly changeImages: ChangeImages;
}

type Report = (path: readonly (string | number)[], message: string) => void;

/** `undefined`: the table has one row for each record. */
export function keyedTableSettings(
  raw: {
    readonly mode: 'append' | 'upsert' | 'patch';
    readonly keyColumns: readonly string[];
    readonly orderBy: readonly string[];
    readonly deleteWhen?: string | undefined;
    readonly onRepeatedKeys?: 'fail' | 'keep-last' | undefined;
    readonly onTruncate?: OnTruncate | undefined;
    readonly name: string;
    readonly tombstoneRetention?: number | undefined;
    readonly tombstoneTable?: string | undefined;
    readonly changeImages?: ChangeImages | undefined;
    readonly identifierColumns: readonly string[];
    readonly evolve: { readonly relaxRequired: boolean };
    readonly columns: readonly ColumnSettings[];
  },
  report: Report,
): KeyedTableSettings | undefined {
  const { mode, keyColumns, orderBy, deleteWhen, onRepeatedKeys, onTruncate, tombstoneRetention, tombstoneTable, changeImages } = raw;
  if (mode === 'append') {
    if (tombstoneRetention !== undefined) report(['tombstoneRetention'], 'is only for tables of mode upsert');
    if (tombstoneTable !== undefined) report(['tombstoneTable'], 'is only for tables of mode upsert');
    if (keyColumns.length > 0) report(['keyColumns'], 'is only for tables of mode upsert');
    if (orderBy.length > 0) report(['orderBy'], 'is only for tables of mode upsert');
    if (deleteWhen !== undefined) report(['deleteWhen'], 'is only for tables of mode upsert');
    if (onRepeatedKeys !== undefined) report(['onRepeatedKeys'], 'is only for tables of mode upsert');
    if (onTruncate !== undefined) report(['onTruncate'], 'is only for tables of mode upsert');
    if (changeImages !== undefined) report(['changeImages'], 'is only for tables of mode upsert');
    return undefined;
  }
  if (keyColumns.length === 0) report(['mode'], `${mode} needs the columns that make up the key: keyColumns`);
  if (mode === 'patch' && orderBy.length > 0)
    report(['orderBy'], 'is not for mode patch: of a late record, which has only some columns, nobody can say which of them are late');
  checkNames(raw, { setting: 'keyColumns', what: 'key' }, report);
  checkNames(raw, { setting: 'orderBy', what: 'order' }, report);
  checkTombstones(raw, report);
  const { identifierColumns } = raw;
  if (identifierColumns.length > 0 && identifierColumns.toSorted().join('\0') !== keyColumns.toSorted().join('\0'))
    report(['identifierColumns'], 'are the keyColumns of a table of mode upsert; leave them out');
  if (raw.evolve.relaxRequired) report(['evolve', 'relaxRequired'], 'is not for tables of mode upsert: a key is never null');
  return {
    keyColumns,
    orderColumns: orderBy,
    deleteWhen: deleteWhen === undefined ? undefined : parseDeleteWhen(deleteWhen),
    onRepeatedKeys: onRepeatedKeys ?? 'fail',
    patches: mode === 'patch',
    onTruncate: onTruncate ?? 'reject',
    tombstones:
      tombstoneRetention === undefined ? undefined : { retentionMs: tombstoneRetention, table: tombstoneTable ?? `${raw.name}__deletes` },
    changeImages: changeImages ?? 'stored',
  };
}

function checkTombstones(
  {
    mode,
    keyColumns,
    orderBy,
    onTruncate,
    tombstoneRetention,
    tombstoneTable,
  }: Pick<
    Parameters<typeof keyedTableSettings>[0],
    'mode' | 'keyColumns' | 'orderBy' | 'onTruncate' | 'tombstoneRetention' | 'tombstoneTable'
  >,
  report: Report,
): void {
  if (tombstoneRetention === undefined) {
    if (tombstoneTable !== undefined) report(['tombstoneTable'], 'needs tombstoneRetention: how long deleted keys are remembered there');
    return;
  }
  if (mode === 'patch') report(['tombstoneRetention'], 'is not for mode patch, whose records have no order (orderBy)');
  else if (orderBy.length === 0)
    report(['tombstoneRetention'], 'needs orderBy: without an order of the records nobody can say which of them are from before a delete');
  if (onTruncate === 'apply')
    report(['tombstoneRetention'], 'does not go together with onTruncate: apply: no order says which records are from before a truncation');
  for (const [setting, names] of [['keyColumns', keyColumns] as const, ['orderBy', orderBy] as const])
    names.forEach((name, index) => {
      if (timesOfTombstones.has(name.toLowerCase()))
        report([setting, index], `"${name}" is a column of its own in the table that remembers deletes (tombstoneRetention); rename it`);
    });
}

const timesOfTombstones: ReadonlySet<string> = new Set([rememberedAt.name, rememberedOn.name]);

function checkNames(
  raw: { readonly keyColumns: readonly string[]; readonly orderBy: readonly string[]; readonly columns: readonly ColumnSettings[] },
  { setting, what }: { readonly setting: 'keyColumns' | 'orderBy'; readonly what: string },
  report: Report,
): void {
  raw[setting].forEach((name, index) => {
    const column = raw.columns.find((candidate) => candidate.name === name);
    if (column === undefined) report([setting, index], `"${name}" is no column of the table`);
    else if (column.nullable) report([setting, index], `"${name}" must be required (nullable: false)`);
    else if (!keyTypes.has(column.type.kind)) report([setting, index], `"${name}" has type ${column.type.kind}, which no ${what} can have`);
    if (raw[setting].indexOf(name) < index) report([setting, index], `"${name}" is there twice`);
  });
}

function parseDeleteWhen(text: string): DeleteWhen {
  const word = text.trim();
  return word === 'operation' || word === 'tombstone' || word === 'never' ? { kind: word } : { kind: 'condition', condition: text };
}

/** How the records of a route fill a keyed table. */
export function keyedSettingsOf(
  { keyColumns, orderColumns, deleteWhen, patches, onTruncate }: KeyedTableSettings,
  { value }: Pick<RouteSettings, 'value'>,
): KeyedSettings {
  const byDefault: DeleteWhen = { kind: value.envelope === undefined ? 'never' : 'operation' };
  return { keyColumns, orderColumns, deleteWhen: deleteWhen ?? byDefault, patches, onTruncate };
}
