import { DeltaTables, type DeltaTablesParts } from '../delta/delta-tables.ts';
import { firstActions } from '../delta/table-definition.ts';
import { creatingUpdates } from '../iceberg/definition/planned-table.ts';
import { IcebergTables, type IcebergTablesParts } from '../iceberg/iceberg-tables.ts';
import type { EvolutionPolicy } from '../protocol/table-needs.ts';
import { type TableFormat, tableFormatNames } from '../table/formats.ts';
import type { WriteSpec } from '../table/staged-file.ts';
import type { QueryableTable, TableDefinition } from '../table/table.ts';
import type { OpenTableOptions, TableFormatDriver } from '../table/table-formats.ts';

/** What a pipeline makes a table for. */
interface TableMade {
  readonly compression: WriteSpec['compression'];
  readonly evolve: EvolutionPolicy | undefined;
  /** Its rows are replaced by key. */
  readonly keyed: boolean;
}

/** What is asked of a format whose tables a pipeline makes. A further format has a row in `formatRules` and a driver in `formatDrivers`. */
interface FormatRules {
  /** Properties of a table that is made, unless its definition sets them. */
  defaults(made: TableMade): Readonly<Record<string, string>>;
  /** @throws what creating the table would refuse. */
  check(name: string, location: string, definition: TableDefinition): void;
}

const unborn = '00000000-0000-4000-8000-000000000000';

export const formatRules: Readonly<Record<TableFormat, FormatRules>> = {
  delta: {
    defaults: ({ evolve, keyed }) => ({
      // The table can be fed from its first version on.
      'delta.enableChangeDataFeed': 'true',
      ...(evolve?.widenTypes === true ? { 'delta.enableTypeWidening': 'true' } : {}),
      ...(keyed ? { 'delta.enableDeletionVectors': 'true' } : {}),
    }),
    check: (name, _location, definition) => firstActions(name, definition, { tableId: unborn, nowMs: 0, ids: { uuid: () => unborn } }),
  },
  iceberg: {
    defaults: ({ compression, keyed }) => ({
      'write.parquet.compression-codec': compression,
      ...(keyed ? { 'write.merge.mode': 'merge-on-read' } : {}),
    }),
    check: (_name, location, definition) => creatingUpdates({ definition, location }, unborn),
  },
};

export interface FormatDrivers {
  readonly delta: DeltaTables;
  readonly iceberg: IcebergTables;
}

/** The tables of every format. `own`: what one of them gets otherwise. */
export function formatDrivers(
  parts: DeltaTablesParts & IcebergTablesParts,
  own: { readonly delta?: Partial<DeltaTablesParts>; readonly iceberg?: Partial<IcebergTablesParts> } = {},
): FormatDrivers {
  return { delta: new DeltaTables({ ...parts, ...own.delta }), iceberg: new IcebergTables({ ...parts, ...own.iceberg }) };
}

/** The table of the first format that has one at the location. */
export async function openAny(
  formats: FormatDrivers,
  {
    name,
    location,
    signal,
    ...options
  }: OpenTableOptions & { readonly name: string; readonly location: string; readonly signal?: AbortSignal | undefined },
): Promise<QueryableTable | undefined> {
  const drivers: readonly TableFormatDriver[] = tableFormatNames.map((format) => formats[format]);
  const own = drivers.filter((driver) => driver.isTableFile?.(location) === true);
  for (const driver of own.length > 0 ? own : drivers) {
    const table = await driver.open(name, location, signal, options);
    if (table !== undefined) return table;
  }
  return undefined;
}
