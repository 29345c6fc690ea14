import { throwIfAborted } from '../../base/abort.ts';
import { assertNever } from '../../base/assert.ts';
import { conjuncts, type Expression, nullExpression } from '../../expr/expression.ts';
import { someNode } from '../../expr/expression-tree.ts';
import { generate } from '../../expr/generators.ts';
import { expressionSql, quoteName, sortKeySql, sqlText, typeSql } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import { type Analyzed, type Attribute, attributeColumn, type Output, schemaOf } from '../plan/analyzed.ts';
import { asksForPlaces } from '../plan/row-place.ts';
import { needsCast, setWords } from '../plan/set-columns.ts';
import { subqueryQualifier } from '../plan/subquery-name.ts';
import { batchesOf } from '../rows/build-rows.ts';
import type { Execution } from '../run/execution.ts';
import { streamNotStarted } from '../session-errors.ts';
import { columnSql } from './column-sql.ts';
import { subqueriesOf, withNamedHidden } from './hidden-attributes.ts';
import { hintsFor, throughOutputs } from './hints.ts';
import { lowerChanges } from './lower-changes.ts';
import { recursionSql } from './recursion-sql.ts';
import { requireNoPlaces, starWithoutPlace, withPlaces } from './row-places.ts';
import { scanTable } from './scan-table.ts';
import { toldByMetadata } from './told-by-metadata.ts';

/** How a plan is written. */
interface Writing {
  readonly execution: Execution;
  /** `none`: sources stand in by rows of the same types, to ask about the query. */
  readonly sources: 'read' | 'none';
  /** `stand-in`: what WITH names is written apart from it. */
  readonly mentions: 'by-name' | 'stand-in';
}

/**
 * The engine's query for an analyzed plan, columns under their own names. Conditions reach the scans of the tables below, so that files
 * are left out. Valid until the execution ends.
 */
export async function lowerPlan(execution: Execution, plan: Analyzed): Promise<Relation> {
  const sql = await lower({ execution, sources: 'read', mentions: 'by-name' }, withNamedHidden(plan, execution), []);
  const { schema, columns } = namedColumns(plan);
  return { sql: `SELECT ${columns} FROM (${sql}) AS "q"`, schema };
}

/** The same of no rows, to ask the engine what it has against it. Nothing is read. */
export async function lowerForTypes(
  execution: Execution,
  plan: Analyzed,
  { mentions = 'by-name' }: { readonly mentions?: Writing['mentions'] } = {},
): Promise<string> {
  const sql = await lower({ execution, sources: 'none', mentions }, withNamedHidden(plan, execution), []);
  return `SELECT ${plan.attributes.length === 0 ? '1' : columnList(plan.attributes)} FROM (${sql}) AS "q"`;
}

/** One row of NULLs in the place of columns. */
export function standInSql(attributes: readonly Attribute[]): string {
  if (attributes.length === 0) return 'SELECT 1 AS "nothing"';
  return `SELECT ${attributes.map(({ id, field }) => `CAST(NULL AS ${typeSql(field.type)}) AS ${quoteName(id)}`).join(', ')}`;
}

function namedColumns({ attributes }: Analyzed): { readonly schema: StructType; readonly columns: string } {
  const schema = schemaOf(attributes);
  // The engine has no rows without columns.
  if (attributes.length === 0) return { schema, columns: '1 AS "nothing"' };
  return { schema, columns: attributes.map(({ id, field }) => `${quoteName(id)} AS ${quoteName(field.name)}`).join(', ') };
}

/** The query of a node, its columns named by the ids of its attributes. `hints`: conditions that rows must satisfy above. */
async function lower(writing: Writing, plan: Analyzed, hints: readonly Expression[]): Promise<string> {
  const { execution } = writing;
  throwIfAborted(execution.signal);
  switch (plan.kind) {
    case 'table':
    case 'changes':
    case 'metadata':
    case 'rows':
    case 'made':
    case 'stream':
    case 'relation':
    case 'files':
      return writing.sources === 'none'
        ? standInSql(plan.attributes)
        : sourceSql(await openedRows(execution, plan, hints), plan.attributes);
    case 'with':
      return withSql(writing, plan, hints);
    case 'mention':
      return mentionSql(writing, plan, hints);
    case 'one-row':
      return 'SELECT 1 AS "nothing"';
    case 'values':
      return valuesSql(writing, plan);
    case 'range': {
      const print = await printer(writing, plan.bounds);
      const bounds = plan.bounds.map((bound) => `CAST(${print(bound)} AS BIGINT)`);
      return `SELECT "range" AS ${columnList(plan.attributes)} FROM range(${bounds.join(', ')})`;
    }
    case 'join':
      return `SELECT ${columnList(plan.attributes)} FROM ${await fromSql(writing, plan, hints)}`;
    case 'set':
      return setSql(writing, plan, hints);
    case 'recursion':
      return recursionSql(plan, { anchor: await lower(writing, plan.left, []), step: await lower(writing, plan.right, []) });
    case 'project':
      return projectSql(writing, plan, hints);
    case 'generate':
      return generateSql(writing, plan, hints);
    case 'aggregate':
      return aggregateSql(writing, plan, hints);
    case 'filter': {
      const placed = asksForPlaces([plan.condition]);
      const input = await placedSql(writing, plan.input, [plan.condition], [...conjuncts(plan.condition), ...hints]);
      const print = await printer(writing, [plan.condition]);
      return `SELECT ${starWithoutPlace(placed)} FROM ${input} WHERE ${print(plan.condition)}`;
    }
    case 'sort': {
      const values = plan.keys.map(({ expression }) => expression);
      const print = await printer(writing, values);
      const keys = plan.keys.map(({ expression, descending, nullsFirst }) => sortKeySql(keySql(expression, print), descending, nullsFirst));
      const input = await placedSql(writing, plan.input, values, hints);
      return `SELECT ${starWithoutPlace(asksForPlaces(values))} FROM ${input} ORDER BY ${keys.join(', ')}`;
    }
    case 'limit':
      return limitSql(writing, plan);
    case 'sample':
      return `SELECT * FROM ${await fromSql(writing, plan.input, [])} USING SAMPLE ${plan.fraction * 100} PERCENT (bernoulli, ${plan.seed})`;
    case 'distinct': {
      const below = plan.keys === undefined ? hints : hintsFor(hints, new Set(plan.keys));
      const on = plan.keys === undefined ? '' : ` ON (${plan.keys.map(quoteName).join(', ')})`;
      return `SELECT DISTINCT${on} ${columnList(plan.attributes)} FROM ${await fromSql(writing, plan.input, below)}`;
    }
    default:
      return assertNever(plan);
  }
}

type Kind<K extends Analyzed['kind']> = Extract<Analyzed, { readonly kind: K }>;
type Source = Kind<'table' | 'changes' | 'metadata' | 'rows' | 'made' | 'stream' | 'relation' | 'files'>;

async function openedRows(execution: Execution, plan: Source, hints: readonly Expression[]): Promise<Relation> {
  const { engine, signal } = execution;
  switch (plan.kind) {
    case 'table':
      return scanTable(execution, plan, hints);
    case 'changes':
      return lowerChanges(execution, plan);
    case 'metadata':
      return execution.keep(await engine.hold(plan.rows.schema, plan.rows.rows(signal), signal));
    case 'rows':
      if (plan.schema.fields.length === 0) return { sql: 'SELECT 1 AS "nothing" WHERE false', schema: plan.schema };
      return execution.keep(await engine.hold(plan.schema, plan.batches, signal));
    case 'made': {
      const { schema, rows } = plan.plan;
      return execution.keep(await engine.hold(schema, batchesOf(schema, await rows(signal)), signal));
    }
    case 'stream':
      throw streamNotStarted();
    case 'relation':
    case 'files':
      return plan.relation;
    default:
      return assertNever(plan);
  }
}

function sourceSql(relation: Relation, attributes: readonly Attribute[]): string {
  if (attributes.length === 0) return `SELECT 1 AS "nothing" FROM (${relation.sql}) AS "t"`;
  const columns = attributes.map(({ id, field }) => `${quoteName(field.name)} AS ${quoteName(id)}`);
  return `SELECT ${columns.join(', ')} FROM (${relation.sql}) AS "t"`;
}

/** Writes expressions; the queries that stand in these are written with them. */
async function printer(writing: Writing, expressions: readonly Expression[]): Promise<(expression: Expression) => string> {
  const texts = new Map<string, string>();
  for (const expression of expressions) for (const id of subqueriesOf(expression)) texts.set(id, await subquerySql(writing, id));
  return (expression) =>
    expressionSql(expression, (path, qualifier) => {
      if (qualifier !== subqueryQualifier) return columnSql(path);
      const [id = '', ...members] = path;
      return members.reduce((inner, member) => `struct_extract(${inner}, ${sqlText(member)})`, texts.get(id) ?? 'NULL');
    });
}

async function subquerySql(writing: Writing, id: string): Promise<string> {
  const subquery = writing.execution.subquery(id);
  if (subquery === undefined) return 'NULL';
  const { form, query } = subquery;
  const rows = await lower(writing, withNamedHidden(query, writing.execution), []);
  const sql = `SELECT ${query.attributes.length === 0 ? '1' : columnList(query.attributes)} FROM (${rows}) AS "q"`;
  // The parentheses of IN are there.
  return form === 'in' ? sql : form === 'exists' ? `EXISTS (${sql})` : `(${sql})`;
}

/** What FROM says for the input of a node with these expressions, with the places of rows if they ask for these. No row is left out then. */
async function placedSql(
  writing: Writing,
  input: Analyzed,
  expressions: readonly Expression[],
  hints: readonly Expression[],
): Promise<string> {
  return asksForPlaces(expressions) ? withPlaces(await fromSql(writing, input, [])) : fromSql(writing, input, hints);
}

/** What FROM says for a node: joins stand beside one another, whatever their number. */
async function fromSql(writing: Writing, plan: Analyzed, hints: readonly Expression[]): Promise<string> {
  if (plan.kind !== 'join') return `(${await lower(writing, plan, hints)})`;
  const on = plan.condition === undefined ? [] : conjuncts(plan.condition);
  requireNoPlaces('the condition of a join', on);
  const [leftIds, rightIds] = [idsOf(plan.left), idsOf(plan.right)];
  // A condition above reaches a side whose rows a join does not fill with nulls; one in ON a side whose unmatched rows do not come out.
  const intoLeft = plan.join === 'right' || plan.join === 'full' ? [] : hints;
  const intoRight = plan.join === 'left' || plan.join === 'full' ? [] : hints;
  const onLeft = plan.join === 'inner' || plan.join === 'right' || plan.join === 'semi' ? on : [];
  const onRight = plan.join === 'inner' || plan.join === 'left' || plan.join === 'semi' || plan.join === 'anti' ? on : [];
  const left = await fromSql(writing, plan.left, hintsFor([...intoLeft, ...onLeft], leftIds));
  const right = await lower(writing, plan.right, hintsFor([...intoRight, ...onRight], rightIds));
  const print = await printer(writing, plan.condition === undefined ? [] : [plan.condition]);
  const condition =
    plan.join === 'cross' && plan.condition === undefined ? '' : ` ON ${plan.condition === undefined ? 'true' : print(plan.condition)}`;
  const word = plan.join === 'cross' && plan.condition !== undefined ? joinWords.inner : joinWords[plan.join];
  return `${left} ${word} ${plan.lateral === true ? 'LATERAL ' : ''}(${right})${condition}`;
}

async function withSql(writing: Writing, plan: Kind<'with'>, hints: readonly Expression[]): Promise<string> {
  const definitions: string[] = [];
  for (const query of plan.queries) {
    if (query.mentions < 2 || writing.mentions === 'stand-in') continue;
    const definition = await query.analyzed();
    definitions.push(`${quoteName(query.id)} AS (${await lower(writing, withNamedHidden(definition, writing.execution), [])})`);
  }
  const input = await lower(writing, plan.input, hints);
  return definitions.length === 0 ? input : `WITH ${definitions.join(', ')} ${input}`;
}

/** What is mentioned once is written in its place, so that conditions reach it. */
async function mentionSql(writing: Writing, plan: Kind<'mention'>, hints: readonly Expression[]): Promise<string> {
  if (writing.mentions === 'stand-in') return standInSql(plan.attributes);
  const outputs = plan.attributes.map((attribute, index): Output => {
    const column = plan.definition.attributes[index];
    return { attribute, value: column === undefined ? nullExpression : attributeColumn(column) };
  });
  if (plan.query.mentions > 1) return selectSql(outputs, columnsOnly, quoteName(plan.query.id));
  const definition = withNamedHidden(plan.definition, writing.execution);
  return selectSql(outputs, columnsOnly, `(${await lower(writing, definition, throughOutputs(hints, outputs))})`);
}

async function valuesSql(writing: Writing, plan: Kind<'values'>): Promise<string> {
  requireNoPlaces('VALUES', plan.rows.flat());
  const print = await printer(writing, plan.rows.flat());
  const rows = plan.rows.map((row) => `(${row.map(print).join(', ')})`);
  return `SELECT * FROM (VALUES ${rows.join(', ')}) AS "v"(${columnList(plan.attributes)})`;
}

function columnsOnly(expression: Expression): string {
  return expressionSql(expression, columnSql);
}

function selectSql(outputs: readonly Output[], print: (value: Expression) => string, from: string): string {
  const columns = outputs.map(({ attribute, value }) => `${print(value)} AS ${quoteName(attribute.id)}`);
  return `SELECT ${columns.length === 0 ? '1 AS "nothing"' : columns.join(', ')} FROM ${from}`;
}

async function projectSql(writing: Writing, plan: Kind<'project'>, hints: readonly Expression[]): Promise<string> {
  const told = writing.sources === 'none' ? undefined : await toldByMetadata(plan, writing.execution.signal);
  if (told !== undefined) return told;
  const values = plan.outputs.map(({ value }) => value);
  const input = await placedSql(writing, plan.input, values, hasWindow(plan.outputs) ? [] : throughOutputs(hints, plan.outputs));
  return selectSql(plan.outputs, await printer(writing, values), input);
}

const groupWords = { rollup: 'ROLLUP ', cube: 'CUBE ', 'grouping-sets': 'GROUPING SETS ' } as const;

async function aggregateSql(writing: Writing, plan: Kind<'aggregate'>, hints: readonly Expression[]): Promise<string> {
  const asked = writing.sources === 'read' && plan.groups.length === 0 && plan.having === undefined;
  const told = asked ? await toldByMetadata(plan, writing.execution.signal) : undefined;
  if (told !== undefined) return told;
  const having = plan.having === undefined ? [] : [plan.having];
  const keys = plan.groups.flatMap(({ sets }) => sets.flat());
  const values = [...plan.outputs.map(({ value }) => value), ...keys, ...having];
  const input = await placedSql(writing, plan.input, values, throughOutputs(hints, keyOutputs(plan)));
  const print = await printer(writing, values);
  const sql = selectSql(plan.outputs, print, input);
  const elements = plan.groups.map(({ kind, sets }) => {
    const printed = sets.map((set) => set.map((key) => keySql(key, print)).join(', '));
    return kind === 'key' ? printed.join(', ') : `${groupWords[kind]}(${printed.map((set) => `(${set})`).join(', ')})`;
  });
  const grouping = elements.length === 0 ? '' : ` GROUP BY ${elements.join(', ')}`;
  return `${sql}${grouping}${having.map((condition) => ` HAVING ${print(condition)}`).join('')}`;
}

/** Outputs that are the same in all rows of a group. */
function keyOutputs({ groups, outputs }: Kind<'aggregate'>): readonly Output[] {
  if (groups.some(({ kind }) => kind !== 'key')) return [];
  const keys = new Set(groups.flatMap(({ sets }) => sets.flat().map(columnsOnly)));
  return outputs.filter(({ value }) => value.kind === 'column' && keys.has(columnsOnly(value)));
}

async function generateSql(writing: Writing, plan: Kind<'generate'>, hints: readonly Expression[]): Promise<string> {
  requireNoPlaces('a function that makes rows', [plan.argument]);
  const print = await printer(writing, [plan.argument]);
  const { values } = generate(plan.name, plan.argument, { sql: print(plan.argument), outer: plan.outer });
  const made = plan.made.map(({ id }, index) => `${values[index] ?? 'NULL'} AS ${quoteName(id)}`);
  if (plan.input.kind === 'one-row') return `SELECT ${made.join(', ')}`;
  const input = await fromSql(writing, plan.input, hintsFor(hints, idsOf(plan.input)));
  return `SELECT ${[...plan.input.attributes.map(({ id }) => quoteName(id)), ...made].join(', ')} FROM ${input}`;
}

const joinWords = {
  inner: 'INNER JOIN',
  left: 'LEFT JOIN',
  right: 'RIGHT JOIN',
  full: 'FULL JOIN',
  semi: 'SEMI JOIN',
  anti: 'ANTI JOIN',
  cross: 'CROSS JOIN',
} as const;

async function setSql(writing: Writing, plan: Kind<'set'>, hints: readonly Expression[]): Promise<string> {
  const zone = writing.execution.now.zone?.rule;
  const side = async (input: Analyzed): Promise<string> => {
    const outputs = plan.attributes.map((attribute, index): Output => {
      const source = input.attributes[index];
      const column: Expression = source === undefined ? nullExpression : attributeColumn(source);
      const { type } = attribute.field;
      const cast = source !== undefined && needsCast(source.field.type, type);
      return { attribute, value: cast ? { kind: 'cast', operand: column, type, safe: false, zone } : column };
    });
    return selectSql(outputs, columnsOnly, await fromSql(writing, input, throughOutputs(hints, outputs)));
  };
  const sides: string[] = [];
  for (const input of sidesOf(plan)) sides.push(await side(input));
  return sides.map((sql) => `(${sql})`).join(` ${setWords[plan.operation]} `);
}

/** Unions in a row are one of all their sides, where no side has to become something else on the way. */
function sidesOf(plan: Kind<'set'>): readonly Analyzed[] {
  const sides: Analyzed[] = [plan.right];
  let left = plan.left;
  while (plan.operation === 'union' && left.kind === 'set' && left.operation === 'union' && sameTypes(left, plan)) {
    sides.push(left.right);
    left = left.left;
  }
  return [...sides, left].toReversed();
}

function sameTypes(one: Analyzed, other: Analyzed): boolean {
  return one.attributes.every(({ field }, index) => !needsCast(field.type, other.attributes[index]?.field.type ?? field.type));
}

async function limitSql(writing: Writing, plan: Kind<'limit'>): Promise<string> {
  const print = await printer(
    writing,
    [plan.count, plan.offset].flatMap((value) => value ?? []),
  );
  const clause = (word: string, value: Expression | undefined): string =>
    value === undefined ? '' : ` ${word} CAST(${print(value)} AS BIGINT)`;
  const input = await fromSql(writing, plan.input, []);
  return `SELECT * FROM ${input}${clause('LIMIT', plan.count)}${clause('OFFSET', plan.offset)}`;
}

/** A bare number would be taken for a column's place. */
function keySql(key: Expression, print: (value: Expression) => string): string {
  return key.kind === 'literal' ? `(${print(key)})` : print(key);
}

/** Rows that are filtered above still count for a window. */
function hasWindow(outputs: readonly Output[]): boolean {
  return outputs.some(({ value }) => someNode(value, (node) => node.kind === 'call' && node.over !== undefined));
}

function columnList(attributes: readonly Attribute[]): string {
  return attributes.map(({ id }) => quoteName(id)).join(', ');
}

function idsOf(plan: Analyzed): ReadonlySet<string> {
  return new Set(plan.attributes.map(({ id }) => id));
}
