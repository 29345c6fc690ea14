import { parseJson } from '../base/bigint-json.ts';
import { isServiceError } from '../base/errors.ts';
import type { Expression } from '../expr/expression.ts';
import { type ColumnBatch, fieldOf } from '../schema/columns.ts';
import type { StructType } from '../schema/types.ts';
import type { AppendIntent, CommitOutcome } from './commit.ts';
import type { KeyIndex } from './key-index.ts';
import type { FileScan } from './scan.ts';

/** Says of a table by which columns its rows were found to be told apart, as a list in JSON; an ingest keeps them so. */
export const keyedByProperty = 'tidewater.keyed-by';

/** Says how a keyed table tells what its rows were before they changed: see `ChangeImages`. */
export const changeImagesProperty = 'tidewater.change-images';

/** Changed rows are `stored` a second time for whoever reads changes, or `derived` from the files that came and went. */
export type ChangeImages = 'stored' | 'derived';

interface KeyedDefinition {
  readonly properties: Readonly<Record<string, string>>;
  readonly schema: StructType;
}

/** Names the id of the table that remembers the deleted keys of a table, in the table itself. */
export const tombstonesProperty = 'tidewater.tombstones';

/** The columns by which a table says that its rows are told apart; none: it does not, or they are not among its columns. */
export function keyColumnsOf({ properties, schema }: KeyedDefinition): readonly string[] {
  const text = properties[keyedByProperty];
  const named: unknown = text === undefined ? [] : parsed(text);
  const columns = Array.isArray(named) ? named.filter((name): name is string => typeof name === 'string') : [];
  return columns.every((name) => fieldOf(schema, name) !== undefined) ? columns : [];
}

/** The columns by which the changes of a version without stored images are paired; none: they are not. */
export function derivedImageKeys(table: KeyedDefinition): readonly string[] {
  const derived: ChangeImages = 'derived';
  return table.properties[changeImagesProperty] === derived ? keyColumnsOf(table) : [];
}

/** Others may have put anything there. */
function parsed(text: string): unknown {
  try {
    return parseJson(text, keyedByProperty);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return undefined;
  }
}

/** Rows that leave columns of the table's rows as they are. */
export interface Patches {
  /** The table's columns, and behind them for each of `columns` whether the row leaves it as it is; its value is null then. */
  readonly rows: ColumnBatch;
  readonly columns: readonly string[];
}

/** Deletes that are remembered with their order, whether or not a table has, or had, rows of their keys. */
export interface RememberedDeletes {
  /** Files of all that are known now, of keys that satisfy the bound condition over the key columns. Rows have the key columns and the order columns. */
  scan(condition: Expression | undefined): Promise<FileScan>;
}

/** What a batch says of the keys in it: of each key what its last record said. */
export interface KeyedRows {
  readonly keyColumns: readonly string[];
  /** What decides which of two rows of a key is the later one; of equal ones the batch's. None: the batch's always. */
  readonly orderColumns: readonly string[];
  /** A row for each key: the key columns and the order columns in their order, and whether the key is deleted. Keys that are not have their row in a staged file, or among `patches`. */
  readonly keys: ColumnBatch;
  /** Absent: all rows are whole. */
  readonly patches?: Patches | undefined;
  /** All rows of the version end first, those of other keys too. */
  readonly empties?: boolean | undefined;
  /** What rows may be late against beside the rows of the version; not together with `empties`. Absent: nothing. */
  readonly deletes?: RememberedDeletes | undefined;
  /** Where rows may be looked up without reading the table. Absent: they are read. */
  readonly index?: KeyIndex | undefined;
}

/** Rows that take the place of those with the same keys, keys whose rows end, and the progress they carry; one table version. */
export interface UpsertIntent extends AppendIntent {
  readonly keyed: KeyedRows;
}

/** What an upsert did, or would have done had it landed. */
export interface AppliedKeys {
  readonly insertedRows: number;
  readonly updatedRows: number;
  readonly deletedRows: number;
  /** Keys of the batch of which the table has a later row, or of which a later delete is remembered. */
  readonly lateKeys: number;
  /** Data files whose keys were read, of those that the version has. */
  readonly filesLookedAt: number;
  readonly lookupMs: number;
}

export interface TriedUpsert {
  readonly outcome: CommitOutcome;
  /** `undefined`: it was known before the lookup that it cannot land. */
  readonly applied: AppliedKeys | undefined;
}
