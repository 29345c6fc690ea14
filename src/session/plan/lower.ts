import { throwIfAborted } from '../../base/abort.ts';
import { assertNever } from '../../base/assert.ts';
import { conjuncts, type Expression, type SortKey } from '../../expr/expression.ts';
import { hasAggregate, someNode } from '../../expr/expression-tree.ts';
import { expressionSql, literalSql, quoteName } from '../../expr/sql/engine-sql.ts';
import type { Field } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import { generate } from '../query/generators.ts';
import { batchesOf } from '../rows/build-rows.ts';
import { streamNotStarted } from '../session-errors.ts';
import { type Analyzed, type Attribute, type Output, schemaOf } from './analyzed.ts';
import { answeredValue, extentQuestion, type FieldOf } from './answer-from-extent.ts';
import { columnSql } from './column-sql.ts';
import type { Execution } from './execution.ts';
import { withNamedHidden } from './hidden-attributes.ts';
import { hintsFor, throughOutputs } from './hints.ts';
import { lowerChanges } from './lower-changes.ts';
import { scanTable } from './scan-table.ts';

/**
 * The engine's query for an analyzed plan, columns under their own names. Conditions reach the scans of the tables below, so that files
 * are left out. Valid until the execution ends.
 */
export async function lowerPlan(execution: Execution, plan: Analyzed, hints: readonly Expression[] = []): Promise<Relation> {
  const sql = await lower(execution, withNamedHidden(plan), hints);
  // The engine has no rows without columns.
  if (plan.attributes.length === 0) return { sql: `SELECT 1 AS "nothing" FROM (${sql}) AS "q"`, schema: { kind: 'struct', fields: [] } };
  const columns = plan.attributes.map(({ id, field }) => `${quoteName(id)} AS ${quoteName(field.name)}`);
  return { sql: `SELECT ${columns.join(', ')} FROM (${sql}) AS "q"`, schema: schemaOf(plan.attributes) };
}

/** The query of a node, its columns named by the ids of its attributes. `hints`: conditions that rows must satisfy above. */
async function lower(execution: Execution, plan: Analyzed, hints: readonly Expression[]): Promise<string> {
  throwIfAborted(execution.signal);
  switch (plan.kind) {
    case 'table':
      return sourceSql(await scanTable(execution, plan, hints), plan.attributes);
    case 'changes':
      return sourceSql(await lowerChanges(execution, plan), plan.attributes);
    case 'metadata': {
      const { schema } = plan.rows;
      const held = await execution.engine.hold(schema, plan.rows.rows(execution.signal), execution.signal);
      return sourceSql(execution.keep(held), plan.attributes);
    }
    case 'query':
      return querySql(await plan.query.relation(), plan.attributes);
    case 'rows':
      if (plan.schema.fields.length === 0) return 'SELECT 1 AS "nothing" WHERE false';
      return sourceSql(execution.keep(await execution.engine.hold(plan.schema, plan.batches, execution.signal)), plan.attributes);
    case 'made': {
      const { schema, rows } = plan.plan;
      const batches = batchesOf(schema, await rows(execution.signal));
      return sourceSql(execution.keep(await execution.engine.hold(schema, batches, execution.signal)), plan.attributes);
    }
    case 'stream':
      throw streamNotStarted();
    case 'relation':
    case 'files':
      return sourceSql(plan.relation, plan.attributes);
    case 'join':
      return joinSql(execution, plan, hints);
    case 'set':
      return setSql(execution, plan, hints);
    case 'project':
      return projectSql(execution, plan, hints);
    case 'generate':
      return generateSql(execution, plan, hints);
    case 'aggregate':
      return aggregateSql(execution, plan, hints);
    case 'filter': {
      const input = await lower(execution, plan.input, [...hints, ...conjuncts(plan.condition)]);
      return `SELECT * FROM (${input}) AS "q" WHERE ${expressionSql(plan.condition, columnSql)}`;
    }
    case 'sort':
      return `SELECT * FROM (${await lower(execution, plan.input, hints)}) AS "q" ORDER BY ${plan.keys.map(sortSql).join(', ')}`;
    case 'limit':
      return limitSql(plan, await lower(execution, plan.input, []));
    case 'sample':
      return `SELECT * FROM (${await lower(execution, plan.input, [])}) AS "q" USING SAMPLE ${plan.fraction * 100} PERCENT (bernoulli, ${plan.seed})`;
    case 'distinct':
      return distinctSql(plan, await lower(execution, plan.input, plan.keys === undefined ? hints : hintsFor(hints, new Set(plan.keys))));
    default:
      return assertNever(plan);
  }
}

function sourceSql(relation: Relation, attributes: readonly Attribute[]): string {
  if (attributes.length === 0) return `SELECT 1 FROM (${relation.sql}) AS "t"`;
  const columns = attributes.map(({ id, field }) => `${quoteName(field.name)} AS ${quoteName(id)}`);
  return `SELECT ${columns.join(', ')} FROM (${relation.sql}) AS "t"`;
}

/** By place: the columns of a query may share a name. */
function querySql(relation: Relation, attributes: readonly Attribute[]): string {
  if (attributes.length === 0) return sourceSql(relation, attributes);
  return `SELECT * FROM (${relation.sql}) AS "t"(${columnList(attributes)})`;
}

function selectSql(outputs: readonly Output[], input: string): string {
  const columns = outputs.map(({ attribute, value }) => `${expressionSql(value, columnSql)} AS ${quoteName(attribute.id)}`);
  return `SELECT ${columns.length === 0 ? '1 AS "nothing"' : columns.join(', ')} FROM (${input}) AS "q"`;
}

type Kind<K extends Analyzed['kind']> = Extract<Analyzed, { readonly kind: K }>;

async function projectSql(execution: Execution, plan: Kind<'project'>, hints: readonly Expression[]): Promise<string> {
  const told = await toldByMetadata(execution, plan);
  if (told !== undefined) return told;
  const input = await lower(execution, plan.input, hasWindow(plan.outputs) ? [] : throughOutputs(hints, plan.outputs));
  return selectSql(plan.outputs, input);
}

async function aggregateSql(execution: Execution, plan: Kind<'aggregate'>, hints: readonly Expression[]): Promise<string> {
  const told = plan.groups.length > 0 ? undefined : await toldByMetadata(execution, plan);
  if (told !== undefined) return told;
  const groupHints = throughOutputs(hints, plan.outputs.slice(0, plan.groups.length));
  const input = await lower(execution, plan.input, groupHints);
  const grouping = plan.groups.length === 0 ? '' : ` GROUP BY ${plan.groups.map((group) => expressionSql(group, columnSql)).join(', ')}`;
  return `${selectSql(plan.outputs, input)}${grouping}`;
}

/** Aggregates over a whole table that its metadata tells, without its rows. */
async function toldByMetadata({ signal }: Execution, { outputs, input }: Kind<'aggregate' | 'project'>): Promise<string | undefined> {
  const { source, fields } = wholeRows(input);
  if (source.kind !== 'table' || source.appendedAfter !== undefined) return undefined;
  const fieldOf: FieldOf = ({ path: [id = '', ...members] }) => (members.length === 0 ? fields.get(id) : undefined);
  const question = extentQuestion(
    outputs.map(({ value }) => value),
    fieldOf,
  );
  const extent = question === undefined ? undefined : await source.table.extent(source.snapshot, question, signal);
  if (extent === undefined) return undefined;
  const columns = outputs.map(
    ({ attribute, value }) => `${expressionSql(answeredValue(value, extent, fieldOf), columnSql)} AS ${quoteName(attribute.id)}`,
  );
  return `SELECT ${columns.join(', ')}`;
}

/** Where the rows of a plan come from that has as many, and what of its columns are columns there. */
function wholeRows(plan: Analyzed): { readonly source: Analyzed; readonly fields: ReadonlyMap<string, Field> } {
  if (plan.kind !== 'project' || plan.outputs.some(({ value }) => hasAggregate(value))) {
    return { source: plan, fields: new Map(plan.attributes.map(({ id, field }) => [id, field])) };
  }
  const { source, fields } = wholeRows(plan.input);
  const passed = plan.outputs.flatMap(({ attribute, value }) => {
    const field = value.kind === 'column' && value.path.length === 1 ? fields.get(value.path[0] ?? '') : undefined;
    return field === undefined ? [] : [[attribute.id, field] as const];
  });
  return { source, fields: new Map(passed) };
}

async function generateSql(execution: Execution, plan: Kind<'generate'>, hints: readonly Expression[]): Promise<string> {
  const input = await lower(execution, plan.input, hintsFor(hints, idsOf(plan.input)));
  const { values } = generate(plan.name, plan.argument, { sql: expressionSql(plan.argument, columnSql), outer: false });
  const made = plan.made.map(({ id }, index) => `${values[index] ?? 'NULL'} AS ${quoteName(id)}`);
  return `SELECT ${[...plan.input.attributes.map(({ id }) => quoteName(id)), ...made].join(', ')} FROM (${input}) AS "q"`;
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

async function joinSql(execution: Execution, plan: Kind<'join'>, hints: readonly Expression[]): Promise<string> {
  const on = plan.condition === undefined ? [] : conjuncts(plan.condition);
  const [leftIds, rightIds] = [idsOf(plan.left), idsOf(plan.right)];
  // A condition above reaches a side whose rows a join does not fill with nulls; one in ON a side whose unmatched rows do not come out.
  const intoLeft = plan.join === 'right' || plan.join === 'full' ? [] : hints;
  const intoRight = plan.join === 'left' || plan.join === 'full' ? [] : hints;
  const onLeft = plan.join === 'inner' || plan.join === 'right' || plan.join === 'semi' ? on : [];
  const onRight = plan.join === 'inner' || plan.join === 'left' || plan.join === 'semi' || plan.join === 'anti' ? on : [];
  const left = await lower(execution, plan.left, hintsFor([...intoLeft, ...onLeft], leftIds));
  const right = await lower(execution, plan.right, hintsFor([...intoRight, ...onRight], rightIds));
  const condition = plan.join === 'cross' ? '' : ` ON ${plan.condition === undefined ? 'true' : expressionSql(plan.condition, columnSql)}`;
  return `SELECT ${columnList(plan.attributes)} FROM (${left}) AS "l" ${joinWords[plan.join]} (${right}) AS "r"${condition}`;
}

const setWords = {
  union: 'UNION ALL',
  intersect: 'INTERSECT',
  'intersect-all': 'INTERSECT ALL',
  except: 'EXCEPT',
  'except-all': 'EXCEPT ALL',
} as const;

async function setSql(execution: Execution, plan: Kind<'set'>, hints: readonly Expression[]): Promise<string> {
  const side = async (input: Analyzed): Promise<string> => {
    const outputs = plan.attributes.map((attribute, index): Output => {
      const source = input.attributes[index];
      return { attribute, value: { kind: 'column', path: [source?.id ?? ''] } };
    });
    return selectSql(outputs, await lower(execution, input, throughOutputs(hints, outputs)));
  };
  return `${await side(plan.left)} ${setWords[plan.operation]} ${await side(plan.right)}`;
}

function limitSql(plan: Kind<'limit'>, input: string): string {
  const limit = plan.count === undefined ? '' : ` LIMIT ${plan.count}`;
  const offset = plan.offset === 0 ? '' : ` OFFSET ${plan.offset}`;
  return `SELECT * FROM (${input}) AS "q"${limit}${offset}`;
}

function distinctSql(plan: Kind<'distinct'>, input: string): string {
  const on = plan.keys === undefined ? '' : ` ON (${plan.keys.map(quoteName).join(', ')})`;
  return `SELECT DISTINCT${on} ${columnList(plan.attributes)} FROM (${input}) AS "q"`;
}

function sortSql({ expression, descending, nullsFirst }: SortKey): string {
  // A bare number would be taken for a column's place.
  const sql = expression.kind === 'literal' ? `(${literalSql(expression.literal)})` : expressionSql(expression, columnSql);
  return `${sql} ${descending ? 'DESC' : 'ASC'} NULLS ${(nullsFirst ?? !descending) ? 'FIRST' : 'LAST'}`;
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
