import { quoteName } from '../../expr/sql/engine-sql.ts';
import { innerFields } from '../../schema/type-tree.ts';
import type { StructType } from '../../schema/types.ts';
import { changelogNames, holdsFloats, rowKeys } from './changelog-columns.ts';

const { type, ordinal, snapshot } = changelogNames;
const sign = `CASE ${type} WHEN 'INSERT' THEN 1 ELSE -1 END`;

/**
 * Rows that a snapshot both removed and added, which it has only moved, taken away from its changes: as many of the one kind as of the other.
 *
 * @param schema the table's columns, in the rows before those of the changelog.
 */
export function withoutCarriedOver(rows: string, schema: StructType): string {
  const columns = columnsOf(schema);
  const keys = [...rowKeys(schema), ordinal, snapshot].join(', ');
  const counted = `SELECT ${[...valuesOf(schema), ordinal, snapshot].join(', ')}, CAST(sum(${sign}) AS BIGINT) AS __n FROM (${rows}) GROUP BY ${keys} HAVING sum(${sign}) <> 0`;
  const kind = `CASE WHEN __n > 0 THEN 'INSERT' ELSE 'DELETE' END AS ${type}`;
  return `SELECT ${[...columns, kind, ordinal, snapshot].join(', ')} FROM (SELECT *, unnest(range(abs(__n))) AS __copy FROM (${counted}))`;
}

/**
 * What a range has changed in the end: of equal rows, whichever snapshots they come from, inserts and deletes cancel each other in their order.
 * What is left is told as by the first change that nothing cancelled.
 */
export function netChanges(rows: string, schema: StructType): string {
  const columns = columnsOf(schema);
  const keys = rowKeys(schema);
  const steps = `SELECT ${[...valuesOf(schema), type, ordinal, snapshot].join(', ')}, CAST(sum(${sign}) AS BIGINT) AS __n FROM (${rows}) GROUP BY ${[...keys, type, ordinal, snapshot].join(', ')}`;
  const inOrder = `PARTITION BY ${keys.join(', ')} ORDER BY ${ordinal}, ${type}`;
  const sums = `SELECT *, CAST(sum(__n) OVER (${inOrder} ROWS UNBOUNDED PRECEDING) AS BIGINT) AS __after, row_number() OVER (${inOrder}) AS __step FROM (${steps})`;
  // The balance of a row changes its sign, or leaves zero, where a change begins that later ones have not undone.
  const begins = `__after <> 0 AND (__after > 0) = (__n > 0) AND abs(__after) <= abs(__n)`;
  const whole = `PARTITION BY ${keys.join(', ')}`;
  const found = `SELECT *, max(CASE WHEN ${begins} THEN __step END) OVER (${whole}) AS __begin, CAST(sum(__n) OVER (${whole}) AS BIGINT) AS __total FROM (${sums})`;
  const left = `SELECT *, unnest(range(abs(__total))) AS __copy FROM (${found}) WHERE __total <> 0 AND __step = __begin`;
  return `SELECT ${[...columns, type, ordinal, snapshot].join(', ')} FROM (${left})`;
}

/** Number of deletes of one identifier in one snapshot: more than one cannot be told apart. */
export const deletesOfIdentifier = '__deletes';

/**
 * A delete and an insert of one identifier in one snapshot made both halves of an update; further inserts of it stay what they are. A column
 * says how many deletes there are.
 */
export function withUpdateImages(rows: string, schema: StructType, identifier: readonly string[]): string {
  const columns = columnsOf(schema);
  const key = [...identifier, ordinal].join(', ');
  const same = `PARTITION BY ${key}`;
  const counted = [
    '*',
    `count(*) FILTER (WHERE ${type} = 'DELETE') OVER (${same}) AS ${deletesOfIdentifier}`,
    `count(*) FILTER (WHERE ${type} = 'INSERT') OVER (${same}) AS __inserts`,
    `row_number() OVER (PARTITION BY ${key}, ${type} ORDER BY ${rowKeys(schema).join(', ')}) AS __place`,
  ];
  const paired = `${deletesOfIdentifier} = 1 AND __inserts > 0 AND __place = 1`;
  const kind = `CASE WHEN NOT (${paired}) THEN ${type} WHEN ${type} = 'DELETE' THEN 'UPDATE_BEFORE' ELSE 'UPDATE_AFTER' END AS ${type}`;
  return `SELECT ${[...columns, kind, ordinal, snapshot, deletesOfIdentifier].join(', ')} FROM (SELECT ${counted.join(', ')} FROM (${rows}))`;
}

/**
 * The columns of a group of equal rows, some of which are not among its keys. The first of values with parts would come from the engine without
 * the signs of their zeros; the first of a list of them keeps these.
 */
function valuesOf({ fields }: StructType): readonly string[] {
  return fields.map(({ name, type: kind }) => {
    const column = quoteName(name);
    if (!holdsFloats(kind)) return column;
    return `${innerFields(kind).length === 0 ? `first(${column})` : `list(${column})[1]`} AS ${column}`;
  });
}

function columnsOf({ fields }: StructType): readonly string[] {
  return fields.map(({ name }) => quoteName(name));
}
