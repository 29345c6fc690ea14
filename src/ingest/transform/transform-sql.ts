import { raiseFunction } from '../../engine/engine.ts';
import { typeSql } from '../../expr/sql/engine-sql.ts';
import type { TransformExpression, TransformSpec } from '../../protocol/transform-spec.ts';
import type { StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';

/** What the engine is asked for: `n` (the number of the record), columns of the table, and whether the row meets each expectation. */
export interface TransformQuery {
  /** Columns of the record that it reads, by number. */
  readonly reads: readonly number[];
  /** Columns of the table that it computes, by number, in the order of the result behind `n` and, with a generator, `made`. */
  readonly computes: readonly number[];
  readonly relation: (source: string) => Relation;
  /** Gives `n` of records that fail, with the number in `steps` of the first expression that does (`bad`). */
  readonly blame: (source: string) => Relation;
  readonly steps: readonly TransformExpression[];
}

const long = { kind: 'long' } as const;
const boolean = { kind: 'boolean' } as const;

/** The queries of a transform; `undefined` when nothing has to be computed. */
export function transformQuery(spec: TransformSpec, table: StructType): TransformQuery | undefined {
  const { where, outputs, generator, expectations } = spec;
  const computes = outputs.flatMap(({ kind }, index) => (kind === 'computed' || kind === 'generated' ? [index] : []));
  if (where === undefined && computes.length === 0 && expectations.length === 0) return undefined;
  // Expectations are about columns of the table, those included that are the record's as they are.
  const named = [...new Set([...computes, ...expectations.flatMap(({ about }) => about)])].toSorted((left, right) => left - right);
  const steps = stepsOf(spec, named);
  const reads = [...new Set([...steps.flatMap((step) => step.reads), ...passed(spec, named)])].toSorted((left, right) => left - right);
  const from = (source: string): string =>
    `SELECT ${['n', ...reads.map((column, index) => `c${index} AS r${column}`)].join(', ')} FROM (${source})`;
  const made = generator === undefined ? [] : ['made'];
  const checks = expectations.map(({ expression }, index) => `${expression.sql} AS x${index}`);
  const schema: StructType = {
    kind: 'struct',
    fields: [
      { name: 'n', type: long, nullable: false },
      ...made.map((name) => ({ name, type: boolean, nullable: false })),
      ...computes.map((index) => ({ name: `o${index}`, type: table.fields[index]?.type ?? boolean, nullable: true })),
      ...expectations.map((_, index) => ({ name: `x${index}`, type: boolean, nullable: false })),
    ],
  };
  return {
    reads,
    computes,
    steps,
    relation: (source) => {
      const values = named.flatMap((index) => valueSql(spec, table, index));
      const rows = generated(spec, `${from(source)}${where === undefined ? '' : ` WHERE ${where.sql}`}`, { values, named });
      return { sql: `SELECT ${['n', ...made, ...computes.map((index) => `o${index}`), ...checks].join(', ')} FROM (${rows})`, schema };
    },
    blame: (source) => ({ sql: withoutRaised(blameSql(spec, table, { source: from(source), named, steps })), schema: blameSchema }),
  };
}

const blameSchema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'n', type: long, nullable: false },
    { name: 'bad', type: long, nullable: false },
  ],
};

/**
 * TRY takes no `error()`, which counts as a value of its own at each call: `raise_of(n, …)` fails as well, and depends on the row alone. Texts and
 * names are left as they are.
 */
function withoutRaised(sql: string): string {
  return sql.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\berror\(/gu, (found) => (found === 'error(' ? `${raiseFunction}(n, ` : found));
}

/** Every expression, in the order in which one is blamed. */
function stepsOf({ where, outputs, generator, expectations }: TransformSpec, named: readonly number[]): readonly TransformExpression[] {
  const computed = named.flatMap((index) => {
    const output = outputs[index];
    return output?.kind === 'computed' ? [output.expression] : [];
  });
  return [
    ...(where === undefined ? [] : [where]),
    ...computed,
    ...(generator === undefined ? [] : [generator.argument]),
    ...expectations.map(({ expression }) => expression),
  ];
}

function passed({ outputs }: TransformSpec, named: readonly number[]): readonly number[] {
  return named.flatMap((index) => {
    const output = outputs[index];
    return output?.kind === 'record' ? [output.column] : [];
  });
}

/** A column of the table over the record's; those that a generator makes come later. */
function valueSql({ outputs }: TransformSpec, table: StructType, index: number): readonly string[] {
  const output = outputs[index];
  switch (output?.kind) {
    case 'record':
      return [`r${output.column} AS o${index}`];
    case 'computed':
      return [`${output.expression.sql} AS o${index}`];
    case 'absent':
      return [`CAST(NULL AS ${typeSql(table.fields[index]?.type ?? boolean)}) AS o${index}`];
    default:
      return [];
  }
}

interface Layer {
  /** SQL of the columns that are computed before rows are made of lists. */
  readonly values: readonly string[];
  /** Columns of the table, by number. */
  readonly named: readonly number[];
  /** Other columns that go through. */
  readonly carried?: readonly string[];
}

/** The rows that a generator makes, one or more for each record: `made` is false of a row that stands for none. */
function generated({ outputs, generator }: TransformSpec, rows: string, { values, named, carried = [] }: Layer): string {
  if (generator === undefined) return `SELECT ${['n', ...carried, ...values].join(', ')} FROM (${rows})`;
  const through = [...carried, ...named.filter((index) => outputs[index]?.kind !== 'generated').map((index) => `o${index}`)];
  const listed = `SELECT ${['n', `${generator.argument.sql} AS ga`, ...carried, ...values].join(', ')} FROM (${rows})`;
  const isMade = `${String(generator.outer)} OR coalesce(${generator.count} > 0, false) AS made`;
  const made = generator.values.map((value, index) => `${value} AS g${index}`);
  const unnested = `SELECT ${['n', isMade, ...through, ...made].join(', ')} FROM (${listed})`;
  const converted = named.flatMap((index) => {
    const output = outputs[index];
    return output?.kind === 'generated' ? [`${output.sql} AS o${index}`] : [];
  });
  return `SELECT ${['n', 'made', ...through, ...converted].join(', ')} FROM (${unnested})`;
}

/**
 * Computes every expression by itself, where its failure is null: `[value]` is not, whatever the value is. Expectations are asked of rows whose
 * columns could be computed.
 */
function blameSql(
  spec: TransformSpec,
  table: StructType,
  { source, named, steps }: { readonly source: string; readonly named: readonly number[]; readonly steps: readonly TransformExpression[] },
): string {
  const { where, generator, expectations } = spec;
  const first = steps.slice(0, steps.length - expectations.length);
  const attempts = first.map(({ sql }, index) => `TRY([${sql}]) AS t${index}`);
  const kept = where === undefined ? 'true' : 't0 IS NULL OR coalesce(t0[1], false)';
  const bad = first.map((_, index) => `WHEN t${index} IS NULL THEN ${index}`);
  const places = new Map(first.map((step, index) => [step, index]));
  const values = named.flatMap((index) => {
    const output = spec.outputs[index];
    return output?.kind === 'computed' ? [`t${places.get(output.expression) ?? 0}[1] AS o${index}`] : valueSql(spec, table, index);
  });
  const known = `SELECT *, ${bad.length === 0 ? 'NULL' : `CASE ${bad.join(' ')} END`} AS early FROM (SELECT *${attempts.length === 0 ? '' : `, ${attempts.join(', ')}`} FROM (${source})) WHERE ${kept}`;
  const place = generator === undefined ? undefined : places.get(generator.argument);
  const tried =
    generator === undefined
      ? spec
      : { ...spec, generator: { ...generator, argument: { ...generator.argument, sql: `t${place ?? 0}[1]` } } };
  const rows = generated(tried, known, { values, named, carried: ['early'] });
  const late = expectations.map(({ expression }, index) => `WHEN TRY([${expression.sql}]) IS NULL THEN ${first.length + index}`);
  const found = `coalesce(early, ${late.length === 0 ? 'NULL' : `CASE ${late.join(' ')} END`})`;
  return `SELECT n, CAST(min(bad) AS BIGINT) AS bad FROM (SELECT n, ${found} AS bad FROM (${rows})) WHERE bad IS NOT NULL GROUP BY n ORDER BY n`;
}
