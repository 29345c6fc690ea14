import type { StructType } from '../../schema/types.ts';
import type { TableFormat } from '../../table/formats.ts';
import type { QueryableTable } from '../../table/table.ts';
import type { TableReference } from '../plan/plan.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { defaultProperties } from '../write/write-options.ts';

/** The table a stream appends to, made empty with the columns of the stream when there is none. */
export async function openSinkTable(
  runtime: SessionRuntime,
  target: {
    readonly reference: TableReference;
    readonly format: TableFormat;
    readonly partitionBy: readonly string[];
    readonly schema: StructType;
  },
): Promise<QueryableTable> {
  const { reference } = target;
  const existing = await runtime.tables.find(reference);
  if (existing !== undefined) return existing;
  const { format } = target;
  const definition = {
    schema: { kind: 'struct' as const, fields: target.schema.fields.map((field) => ({ ...field, nullable: true })) },
    partitionColumns: target.partitionBy,
    properties: defaultProperties(runtime.conf),
  };
  const request = { definition, mode: 'create-if-absent' as const };
  if (reference.kind === 'name') {
    const { catalog, ident } = runtime.tables.resolve(reference.parts);
    return (await catalog.create(ident, { ...request, format })).table;
  }
  const location = runtime.tables.absolutePath(reference.path);
  const created = await runtime.tables.driver(format).createTable({ ...request, name: location, location });
  runtime.tables.forget(location);
  return created.table;
}
