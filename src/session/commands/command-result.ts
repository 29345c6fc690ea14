import type { DataType, Field, StructType } from '../../schema/types.ts';
import { DataFrame } from '../data-frame.ts';
import { batchesOf } from '../rows/build-rows.ts';
import type { RowInput } from '../rows/row.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';

/** The rows that a command answers with. */
export interface CommandResult {
  readonly schema: StructType;
  readonly rows: readonly RowInput[];
}

/** A result as a DataFrame. Nothing is executed when it is used. */
export function resultFrame(runtime: SessionRuntime, { schema, rows }: CommandResult): DataFrame {
  return new DataFrame(runtime, { kind: 'rows', schema, batches: batchesOf(schema, rows) });
}

/** For commands that answer with nothing. */
export const noResult: CommandResult = { schema: { kind: 'struct', fields: [] }, rows: [] };

/** Columns of a result: a kind by name, or a whole type. */
export function resultSchema(columns: Readonly<Record<string, DataType | PlainKind>>): StructType {
  return { kind: 'struct', fields: Object.entries(columns).map(([name, type]) => resultField(name, type)) };
}

type PlainKind = 'string' | 'long' | 'integer' | 'boolean' | 'double' | 'timestamp';

/** Texts by text. */
export const textMap: DataType = { kind: 'map', key: { kind: 'string' }, value: { kind: 'string' }, valueNullable: true };

/** A list of texts. */
export const textList: DataType = { kind: 'list', element: { kind: 'string' }, elementNullable: true };

function resultField(name: string, type: DataType | PlainKind): Field {
  return { name, type: typeof type === 'string' ? { kind: type } : type, nullable: true };
}
