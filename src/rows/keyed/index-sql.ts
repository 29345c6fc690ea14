import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';
import type { DataType, Field } from '../../schema/types.ts';
import { shownSql } from '../values/column-sql.ts';

/** The key as text that no other key has, of columns that are called as `columnSql` says. */
function keyTextSql(fields: readonly Field[], columnSql: (index: number) => string): string {
  const texts = fields.map(({ type }, index) => shownSql(columnSql(index), type));
  if (texts.length === 1) return texts[0] ?? '';
  return texts.map((text) => `length(${text}) || ':' || ${text}`).join(' || ');
}

/** What is hashed, and what goes with it. */
export interface HashedRows {
  readonly rows: string;
  readonly fields: readonly Field[];
  /** SQL of the column of each of `fields`. */
  readonly columnSql: (index: number) => string;
  readonly salt: string;
  /** SQL of what else is wanted of the rows. */
  readonly others: readonly string[];
}

/** Two numbers of 63 bits, `a` and `b`, that are the hash of a row's key, and behind them the others as `o0`, `o1`, … Rows without a key are left out. */
export function hashedSql({ rows, fields, columnSql, salt, others }: HashedRows): string {
  const isKey = fields.map((_, index) => `${columnSql(index)} IS NOT NULL`).join(' AND ');
  const named = others.map((other, index) => `, ${other} AS o${index}`).join('');
  const hash = `md5_number(${sqlText(salt)} || ${keyTextSql(fields, columnSql)})`;
  const names = others.map((_, index) => `, o${index}`).join('');
  const halves = 'CAST(h >> 65 AS BIGINT) AS a, CAST(h & CAST(9223372036854775807 AS UHUGEINT) AS BIGINT) AS b';
  return `SELECT ${halves}${names} FROM (SELECT ${hash} AS h${named} FROM (${rows}) WHERE ${isKey})`;
}

/** How a value goes into an index as a number of 64 bits, and comes out. */
interface CarriedForm {
  readonly into: (value: string) => string;
  readonly outOf: (number: string) => string;
}

const integer = (type: string): CarriedForm => ({
  into: (value) => `CAST(${value} AS BIGINT)`,
  outOf: (number) => `CAST(${number} AS ${type})`,
});

const carriedForms: Readonly<Partial<Record<DataType['kind'], CarriedForm>>> = {
  byte: integer('TINYINT'),
  short: integer('SMALLINT'),
  integer: integer('INTEGER'),
  long: integer('BIGINT'),
  date: {
    into: (value) => `CAST(${value} - DATE '1970-01-01' AS BIGINT)`,
    outOf: (number) => `DATE '1970-01-01' + CAST(${number} AS INTEGER)`,
  },
  timestamp: { into: (value) => `epoch_us(${value})`, outOf: (number) => `make_timestamptz(${number})` },
  timestamp_ntz: { into: (value) => `epoch_us(${value})`, outOf: (number) => `make_timestamp(${number})` },
};

/** A row without a value; a value of it is before all others, as none is. */
const none = '(-9223372036854775807 - 1)';

export function canCarry({ type }: Field): boolean {
  return carriedForms[type.kind] !== undefined;
}

export function carriedSql({ name, type }: Field): string {
  const value = quoteName(name);
  return `coalesce(${carriedForms[type.kind]?.into(value) ?? value}, ${none})`;
}

export function uncarriedSql({ type }: Field, number: string): string {
  const given = `nullif(${number}, ${none})`;
  return carriedForms[type.kind]?.outOf(given) ?? given;
}
