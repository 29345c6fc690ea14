import { present } from '../../base/assert.ts';
import { printJson } from '../../base/bigint-json.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { fieldOf } from '../../schema/columns.ts';
import type { Field } from '../../schema/types.ts';
import { tombstonesProperty } from '../../table/keyed.ts';
import type { QueryableTable, Table, TableCatalog, TableDefinition } from '../../table/table.ts';
import { differs, rememberedAt, rememberedOn } from './tombstone-table.ts';

/** Says of a table of tombstones by what keys and order they are. */
const rememberedByProperty = 'tidewater.tombstones-by';

interface Tombstones {
  /** The keyed table. */
  readonly table: Pick<Table, 'name' | 'refresh' | 'operations'>;
  readonly catalog: Pick<TableCatalog, 'load' | 'loadOrCreate'>;
  /** Name of the table of tombstones in the catalog. */
  readonly name: string;
  /** What it is made with beside its columns. */
  readonly properties: TableDefinition['properties'];
  readonly keyColumns: readonly string[];
  readonly orderColumns: readonly string[];
}

/**
 * The table that remembers the deleted keys of a keyed table, made where nothing was remembered before. The keyed table names it by its id before the
 * first delete is remembered: so one that was lost, or that belongs to another table, is found out. What is done is done again after a stop in between.
 *
 * @throws ServiceError `TOMBSTONES_LOST`, `TOMBSTONES_NOT_EXPECTED` (kind discontinuity), `TOMBSTONES_DIFFER` (kind invalid); what reading and making
 * tables throw.
 */
export async function takeTombstones(of: Tombstones, signal?: AbortSignal): Promise<QueryableTable> {
  const { table, name, keyColumns, orderColumns } = of;
  const known = (await table.refresh(signal)).properties[tombstonesProperty];
  const companion = known === undefined ? await made(of, signal) : await existing(of, signal);
  if (companion === undefined) throw lost(table.name, name, 'there is none');
  const { tableId, fileCount, properties } = await companion.refresh(signal);
  if (properties[rememberedByProperty] !== printJson({ keyColumns: [...keyColumns], orderBy: [...orderColumns] }))
    throw differs(name, `it remembers by ${properties[rememberedByProperty] ?? 'nothing that is known'}`);
  // Who found the other one empty may have been first: it is named before it has rows.
  const named = (await table.refresh(signal)).properties[tombstonesProperty];
  if (named === tableId) return companion;
  if (named !== undefined) throw lost(table.name, name, `the one of this name has another id, ${tableId}`);
  if (fileCount > 0) throw notExpected(table.name, name);
  await table.operations.alter({ kind: 'set-properties', properties: { [tombstonesProperty]: tableId } }, { signal });
  return companion;
}

/** From now on deletes are not remembered: what was, is not to be trusted later. */
export async function forgetTombstones(table: Pick<Table, 'refresh' | 'operations'>, signal?: AbortSignal): Promise<void> {
  const { properties } = await table.refresh(signal);
  if (properties[tombstonesProperty] === undefined) return;
  await table.operations.alter({ kind: 'unset-properties', keys: [tombstonesProperty], ifExists: true }, { signal });
}

async function made({ table, catalog, name, ...of }: Tombstones, signal: AbortSignal | undefined): Promise<QueryableTable> {
  const { keyColumns, orderColumns } = of;
  const { schema } = await table.refresh(signal);
  const columns = [...new Set([...keyColumns, ...orderColumns])].map((column): Field => {
    const { type } = present(fieldOf(schema, column), `the table must have the column "${column}"`);
    return { name: column, type, nullable: false };
  });
  const by = printJson({ keyColumns: [...keyColumns], orderBy: [...orderColumns] });
  return catalog.loadOrCreate(name, signal, {
    schema: { kind: 'struct', fields: [...columns, rememberedAt, rememberedOn] },
    partitionColumns: [rememberedOn.name],
    properties: { ...of.properties, [rememberedByProperty]: by },
  });
}

async function existing({ catalog, name }: Tombstones, signal: AbortSignal | undefined): Promise<QueryableTable | undefined> {
  try {
    return await catalog.load(name, signal);
  } catch (error) {
    if (!isServiceError(error, 'not-found')) throw error;
    return undefined;
  }
}

function lost(table: string, name: string, how: string): ServiceError {
  return serviceError.discontinuity(
    'TOMBSTONES_LOST',
    `table "${table}" has its deleted keys remembered in the table "${name}", which is gone: ${how}`,
    {
      hint: `put it back; or accept that deletes until now are forgotten: remove the property ${tombstonesProperty} of "${table}", and "${name}" if it is there; start again then`,
      context: { table, tombstones: name },
    },
  );
}

function notExpected(table: string, name: string): ServiceError {
  return serviceError.discontinuity(
    'TOMBSTONES_NOT_EXPECTED',
    `table "${name}" remembers deleted keys, and table "${table}" does not know of it: they are of another table, or not all that were deleted`,
    { hint: `drop "${name}", and start again: it begins anew, with what is deleted from then on`, context: { table, tombstones: name } },
  );
}
