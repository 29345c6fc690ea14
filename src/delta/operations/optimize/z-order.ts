import { AnalysisException } from '../../../base/analysis-exception.ts';
import type { Engine } from '../../../engine/engine.ts';
import { quoteName, sqlText, typeSql } from '../../../expr/sql/engine-sql.ts';
import type { DataType, Field, StructType } from '../../../schema/types.ts';
import type { Relation } from '../../../table/relation.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';

/** Rows looked at to divide a column's values into ranges. */
const sampleRows = 100_000;
/** Ranges a column is divided into are 2 to the power of this, fewer when many columns share the 64 bits of the curve. */
const maxBitsPerColumn = 8;
const curveBits = 64;

/** A column rows are clustered by: the names on the way to it. */
export interface ClusterColumn {
  readonly path: readonly string[];
  readonly type: DataType;
}

/**
 * The columns of a ZORDER BY in the table's own spelling.
 *
 * @throws AnalysisException `DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST`, `DELTA_ZORDERING_ON_PARTITION_COLUMN`,
 * `DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS`, `DELTA_CLUSTERING_WITH_ZORDER_BY`.
 */
export function clusterColumns(snapshot: DeltaSnapshot, names: readonly string[]): readonly ClusterColumn[] {
  const columns = names.map((name) => columnOf(snapshot, name));
  const without = columns.filter((column) => !hasStatistics(snapshot, column.path)).map((column) => column.path.join('.'));
  if (without.length > 0) throw withoutStatistics(without);
  if (columns.length > curveBits) {
    throw new AnalysisException({
      errorClass: 'DELTA_ZORDERING_TOO_MANY_COLUMNS',
      message: `cannot cluster by ${columns.length} columns, ${curveBits} is the most`,
      hint: 'choose the few columns that queries filter by: each further one makes the others less effective',
    });
  }
  const clustered = [...snapshot.domains()].some((domain) => domain.domain === 'delta.clustering');
  if (!clustered) return columns;
  throw new AnalysisException({
    errorClass: 'DELTA_CLUSTERING_WITH_ZORDER_BY',
    sqlState: '42613',
    parameters: { zOrderBy: names.join(', ') },
    message: `OPTIMIZE command for Delta table with clustering cannot specify ZORDER BY. Please remove ZORDER BY (${names.join(', ')}).`,
  });
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
  const { parts, signal } = options;
  const { schema } = rows;
  const [place = '', ...keys] = unusedNames(schema, columns.length + 1);
  const names = schema.fields.map((field) => quoteName(field.name)).join(', ');
  const sorted = await sortedSql(engine, rows, { columns, keys, names }, signal);
  if (parts === 1) {
    yield { sql: sorted, schema };
    return;
  }
  // Sorted once and kept (spilled where memory is short): the engine gives no promise about order across several files of one query.
  const placed: Field = { name: place, type: { kind: 'long' }, nullable: false };
  const numbered = `SELECT *, row_number() OVER () AS ${quoteName(place)} FROM (${sorted})`;
  const held = await engine.materialize({ sql: numbered, schema: { kind: 'struct', fields: [...schema.fields, placed] } }, signal);
  try {
    const [[count] = []] = await engine.rows(`SELECT count(*) FROM (${held.sql})`, signal);
    const rowsPerPart = Math.max(1, Math.ceil(Number(count) / parts));
    for (let from = 0; from < Number(count); from += rowsPerPart) {
      const within = `${quoteName(place)} > ${from} AND ${quoteName(place)} <= ${from + rowsPerPart}`;
      yield { sql: `SELECT ${names} FROM (${held.sql}) WHERE ${within} ORDER BY ${quoteName(place)}`, schema };
    }
  } finally {
    await held.dispose();
  }
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

/** Names no column of the rows has. */
function unusedNames(schema: StructType, count: number): readonly string[] {
  let prefix = 'z';
  while (schema.fields.some((field) => field.name.toLowerCase().startsWith(prefix))) prefix += 'z';
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

function columnOf(snapshot: DeltaSnapshot, name: string): ClusterColumn {
  const whole = fieldNamed(snapshot.schema, name);
  const parts = whole === undefined ? name.split('.') : [name];
  let type: DataType = snapshot.schema;
  const path: string[] = [];
  for (const part of parts) {
    const field: Field | undefined = type.kind === 'struct' ? fieldNamed(type, part) : undefined;
    if (field === undefined) throw unknownColumn(name);
    path.push(field.name);
    type = field.type;
  }
  if (snapshot.partitionColumns.includes(path[0] ?? '')) {
    throw new AnalysisException({
      errorClass: 'DELTA_ZORDERING_ON_PARTITION_COLUMN',
      sqlState: '42P10',
      parameters: { colName: name },
      message: `${name} is a partition column. Z-Ordering can only be performed on data columns`,
    });
  }
  return { path, type };
}

function fieldNamed(schema: StructType, name: string): Field | undefined {
  return schema.fields.find((field) => field.name.toLowerCase() === name.toLowerCase());
}

/** Skipping files by a column needs bounds of it: clustering by another column costs and gives nothing. */
function hasStatistics(snapshot: DeltaSnapshot, path: readonly string[]): boolean {
  const chosen = snapshot.metadata.configuration['delta.dataSkippingStatsColumns'];
  const wanted = path.join('.').toLowerCase();
  if (chosen !== undefined) {
    const names = chosen.split(',').map((name) => name.trim().replaceAll('`', '').toLowerCase());
    return names.some((name) => wanted === name || wanted.startsWith(`${name}.`));
  }
  const indexed = snapshot.settings.statisticsColumns;
  const leaves = leafPaths({
    kind: 'struct',
    fields: snapshot.schema.fields.filter((field) => !snapshot.partitionColumns.includes(field.name)),
  });
  const place = leaves.findIndex((leaf) => leaf === wanted);
  return place >= 0 && (indexed < 0 || place < indexed);
}

function leafPaths(schema: StructType, prefix = ''): readonly string[] {
  return schema.fields.flatMap((field) => {
    const path = `${prefix}${field.name.toLowerCase()}`;
    return field.type.kind === 'struct' ? leafPaths(field.type, `${path}.`) : [path];
  });
}

function unknownColumn(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST',
    sqlState: '42703',
    parameters: { columnName: name },
    message: `Z-Ordering column ${name} does not exist in data schema.`,
  });
}

function withoutStatistics(names: readonly string[]): AnalysisException {
  const cols = `[${names.join(', ')}]`;
  return new AnalysisException({
    errorClass: 'DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS',
    sqlState: 'KD00D',
    parameters: { cols },
    message: `Z-Ordering on ${cols} will be ineffective, because we currently do not collect stats for these columns.`,
    hint: 'move the columns forward in the schema, or raise delta.dataSkippingNumIndexedCols and rewrite the table',
  });
}
