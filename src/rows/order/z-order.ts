import type { Engine } from '../../engine/engine.ts';
import { quoteName, sqlText, typeSql } from '../../expr/sql/engine-sql.ts';
import type { DataType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import { orderedParts, unusedNames } from './ordered-parts.ts';

/** Rows looked at to divide a column's values into ranges. */
const sampleRows = 100_000;
/** Ranges a column is divided into are 2 to the power of this, fewer when many columns share the 64 bits of the curve. */
const maxBitsPerColumn = 8;
/** Bits of a place on the curve: no more columns than this can be clustered by. */
export const curveBits = 64;

/** A column rows are clustered by: the names on the way to it. */
export interface ClusterColumn {
  readonly path: readonly string[];
  readonly type: DataType;
}

/**
 * The rows in the order of a Z-order curve over the columns, in so many parts of equally many rows: each column's values are divided into
 * ranges of about equally many rows (by a sample), and the bits of the range numbers interleave. Rows of one cell come in the order of the
 * columns. A part is valid until the next one is asked for.
 */
export async function* zOrdered(
  engine: Engine,
  rows: Relation,
  columns: readonly ClusterColumn[],
  options: { readonly parts: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<Relation, void, undefined> {
  const { schema } = rows;
  const keys = unusedNames(schema, columns.length);
  const names = schema.fields.map((field) => quoteName(field.name)).join(', ');
  const sorted = await sortedSql(engine, rows, { columns, keys, names }, options.signal);
  yield* orderedParts(engine, { sql: sorted, schema }, options);
}

async function sortedSql(
  engine: Engine,
  rows: Relation,
  how: { readonly columns: readonly ClusterColumn[]; readonly keys: readonly string[]; readonly names: string },
  signal: AbortSignal | undefined,
): Promise<string> {
  const { columns, keys, names } = how;
  const bits = Math.max(1, Math.min(maxBitsPerColumn, Math.floor(curveBits / columns.length)));
  const values = columns.map((column, index) => `${columnSql(column)} AS ${keys[index] ?? ''}`);
  const bounds = await rangeBounds(engine, rows, columns, { bits, signal });
  const cells = columns.map((column, index) => {
    const literals = (bounds[index] ?? []).map((text) => boundSql(text, column.type));
    return rangeSql(
      keys[index] ?? '',
      literals,
      (range) => `CAST('${spread(range, { index, bits, columns: columns.length })}' AS UBIGINT)`,
    );
  });
  const order = [cells.join(' | '), ...keys.map((key) => `${key} NULLS FIRST`)].join(', ');
  return `SELECT ${names} FROM (SELECT *, ${values.join(', ')} FROM (${rows.sql})) ORDER BY ${order}`;
}

/** Bits of a range number at every `columns`-th place, the first column's highest: the number's part of the place on the curve. */
export function spread(range: number, how: { readonly index: number; readonly bits: number; readonly columns: number }): bigint {
  let place = 0n;
  for (let bit = 0; bit < how.bits; bit++) {
    if (((range >> bit) & 1) === 1) place |= 1n << BigInt(bit * how.columns + (how.columns - 1 - how.index));
  }
  return place;
}

/** Finds the range of a value by halving: range n holds values from bound n - 1 on; null is in the first. */
function rangeSql(value: string, bounds: readonly string[], resultOf: (range: number) => string): string {
  const between = (from: number, until: number): string => {
    if (from === until) return resultOf(from);
    const middle = (from + until) >> 1;
    return `CASE WHEN ${value} >= ${bounds[middle] ?? ''} THEN ${between(middle + 1, until)} ELSE ${between(from, middle)} END`;
  };
  return between(0, bounds.length);
}

/** The values, as text, where each column's ranges begin; ascending and distinct. */
async function rangeBounds(
  engine: Engine,
  rows: Relation,
  columns: readonly ClusterColumn[],
  options: { readonly bits: number; readonly signal: AbortSignal | undefined },
): Promise<readonly (readonly string[])[]> {
  const ranges = 2 ** options.bits;
  const fractions = Array.from({ length: ranges - 1 }, (_, index) => String((index + 1) / ranges)).join(', ');
  const sampled = columns.map((column, index) => `${columnSql(column)} AS c${index}`).join(', ');
  // A fixed seed: the same files give the same order.
  const sample = `SELECT ${sampled} FROM (${rows.sql}) USING SAMPLE reservoir(${sampleRows} ROWS) REPEATABLE (1)`;
  const quantiles = columns.map(
    (column, index) => `SELECT ${index}, n, ${boundText('v', column.type)} FROM (
      SELECT unnest(quantile_disc(c${index}, [${fractions}])) AS v, unnest(range(1, ${ranges})) AS n FROM sample)`,
  );
  const found = await engine.rows(`WITH sample AS MATERIALIZED (${sample}) ${quantiles.join(' UNION ALL ')} ORDER BY 1, 2`, options.signal);
  const bounds = columns.map((): string[] => []);
  for (const [index, , text] of found) {
    const own = bounds[Number(index)];
    if (own !== undefined && typeof text === 'string' && own.at(-1) !== text) own.push(text);
  }
  return bounds;
}

function boundText(value: string, type: DataType): string {
  return type.kind === 'binary' ? `hex(${value})` : `CAST(${value} AS VARCHAR)`;
}

function boundSql(text: string, type: DataType): string {
  return type.kind === 'binary' ? `unhex(${sqlText(text)})` : `CAST(${sqlText(text)} AS ${typeSql(type)})`;
}

function columnSql(column: ClusterColumn): string {
  return column.path.map(quoteName).join('.');
}
