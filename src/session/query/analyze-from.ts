import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { Field } from '../../schema/types.ts';
import type { FieldOf } from '../plan/answer-from-extent.ts';
import { outputColumn } from './analyzed-query.ts';
import { hasSubquery } from './expressions.ts';
import { callName, type Generated, generate, generatorArgument } from './generators.ts';
import { type JoinSides, mergedJoin } from './join-scope.ts';
import { distribute, replaceColumns } from './pruning.ts';
import type { FromTools, RelationRows } from './query-tools.ts';
import { emptyScope, type NameScope, type ScopeEntry, scopeColumns, scopeOf } from './scope.ts';
import type { FromItem, RelationAlias } from './select-tree.ts';
import { sourceRows } from './source-rows.ts';
import { tableFunction } from './table-functions.ts';
import { travelPoint } from './travel.ts';

/** Relations of a FROM: what names they give, and their text. */
export interface AnalyzedFrom {
  readonly scope: NameScope;
  readonly print: () => string;
  /** Of a FROM that is one table. */
  readonly metadata?: MetadataOfRows | undefined;
}

/** What a table's metadata may tell instead of its rows, for bound columns of the scope. */
export interface MetadataOfRows extends NonNullable<RelationRows['metadata']> {
  readonly fieldOf: FieldOf;
}

/** @throws AnalysisException for names, types and functions that are not there. */
export function analyzeFrom(tools: FromTools, item: FromItem | undefined): Promise<AnalyzedFrom> {
  return analyzeItem(tools, item, tools.environment.parent);
}

async function analyzeItem(tools: FromTools, item: FromItem | undefined, parent: NameScope | undefined): Promise<AnalyzedFrom> {
  if (item === undefined) return { scope: { ...emptyScope, parent }, print: () => '' };
  switch (item.kind) {
    case 'table':
      return analyzeTable(tools, item, parent);
    case 'query': {
      // Only LATERAL sees the relations to its left.
      const environment = { ...tools.environment, parent: item.lateral ? parent : tools.environment.parent, tree: item.query };
      const query = await tools.analyzeQuery(environment);
      const rows = { ...query, prune: query.prune };
      const print = (): string => `${item.lateral ? 'LATERAL ' : ''}(${query.print()})`;
      return named(tools, { ...rows, print }, item.alias, parent);
    }
    case 'function': {
      const rows = await tableFunction(tools, item, parent);
      return named(tools, rows, item.alias, parent);
    }
    case 'join':
      return analyzeJoin(tools, item, parent);
    case 'generator': {
      const input = await analyzeItem(tools, item.input, parent);
      const call = await tools.expressions.bind(generatorArgument(item.call), input.scope);
      return addGenerator(tools, input, {
        name: callName(item.call),
        argument: call,
        outer: item.outer,
        alias: { name: item.name, columns: item.columns },
      });
    }
  }
}

async function analyzeTable(
  tools: FromTools,
  item: Extract<FromItem, { kind: 'table' }>,
  parent: NameScope | undefined,
): Promise<AnalyzedFrom> {
  const [name = ''] = item.parts;
  const query = item.parts.length === 1 && item.travel === undefined ? tools.environment.named.get(name.toLowerCase()) : undefined;
  const alias = item.alias ?? { name: item.parts.at(-1) ?? '', columns: undefined };
  if (query !== undefined) {
    const { fields } = await query.analyzed();
    const mention = query.mention();
    const renamed = fields.map((field, index) => ({ ...field, name: query.columns?.[index] ?? field.name }));
    return named(tools, { fields: renamed, print: () => quoteName(query.sqlName), prune: mention.prune }, alias, parent);
  }
  const at = item.travel === undefined ? undefined : await travelPoint(tools, item.travel);
  const source = await tools.context.use({ parts: item.parts, position: item.at, ...(at === undefined ? {} : { at }) });
  return named(tools, sourceRows(source), alias, parent);
}

/** Gives rows their names. A table without alias goes by the last part of its own. */
function named(tools: FromTools, rows: RelationRows, alias: RelationAlias | undefined, parent: NameScope | undefined): AnalyzedFrom {
  const fields = renamedFields(rows.fields, alias);
  const all = scopeColumns([...fields, ...(rows.hidden ?? [])]);
  const columns = all.slice(0, fields.length);
  const id = tools.context.nextRelation();
  const entry: ScopeEntry = {
    id,
    alias: alias?.name,
    columns,
    // New names for the columns are the only names of the relation.
    hidden: fields === rows.fields ? all.slice(fields.length) : [],
    prune: (condition) => {
      if (hasSubquery(condition)) return;
      const outputs = replaceColumns(condition, (column) => {
        const [name = '', ...members] = column.path;
        const index = all.findIndex((candidate) => candidate.sqlName === name);
        return index < 0 ? undefined : { ...outputColumn(index, members), ...(column.type === undefined ? {} : { type: column.type }) };
      });
      if (outputs !== undefined) rows.prune(outputs);
    },
  };
  const names = all.length === 0 ? '' : `(${all.map((column) => quoteName(column.sqlName)).join(', ')})`;
  const fieldOf: FieldOf = ({ path: [name = '', ...members], qualifier }) => {
    const index = members.length === 0 && qualifier === id ? columns.findIndex((candidate) => candidate.sqlName === name) : -1;
    return rows.fields[index];
  };
  const metadata = rows.metadata === undefined ? undefined : { ...rows.metadata, fieldOf };
  return { scope: scopeOf(entry, parent), print: () => `${rows.print()} AS ${quoteName(id)}${names}`, metadata };
}

function renamedFields(fields: readonly Field[], alias: RelationAlias | undefined): readonly Field[] {
  const names = alias?.columns;
  if (names === undefined || names.length === 0) return fields;
  if (names.length !== fields.length) {
    throw new AnalysisException({
      errorClass: 'ASSIGNMENT_ARITY_MISMATCH',
      sqlState: '42802',
      message: `The number of column aliases does not match the number of columns: ${names.length} aliases for "${alias?.name ?? ''}", which has ${fields.length} columns.`,
    });
  }
  return fields.map((field, index) => ({ ...field, name: names[index] ?? field.name }));
}

async function analyzeJoin(
  tools: FromTools,
  join: Extract<FromItem, { kind: 'join' }>,
  parent: NameScope | undefined,
): Promise<AnalyzedFrom> {
  const left = await analyzeItem(tools, join.left, parent);
  const right = await analyzeItem(tools, join.right, left.scope);
  const sides: JoinSides = { left: left.scope, right: { ...right.scope, parent }, form: join.form };
  const merged = mergedJoin(sides, join, parent);
  const on = join.on === undefined ? merged.on : await tools.expressions.bind(join.on, merged.inside);
  if (on !== undefined) pruneByCondition(on, sides);
  const keyword = joinKeywords[join.form];
  const print = (): string => {
    // A join on the right side keeps its own grouping.
    const rightSql = join.right.kind === 'join' || join.right.kind === 'generator' ? `(${right.print()})` : right.print();
    if (on === undefined && (join.form === 'inner' || join.form === 'cross')) return `${left.print()} CROSS JOIN ${rightSql}`;
    return `${left.print()} ${keyword} ${rightSql} ON ${on === undefined ? 'true' : tools.expressions.print(on)}`;
  };
  return { scope: merged.outside, print };
}

// A row that fails the condition has no partner; on the side whose rows are kept anyway it must stay.
function pruneByCondition(on: Expression, { left, right, form }: JoinSides): void {
  if (form !== 'left' && form !== 'full' && form !== 'anti') distribute(on, left.entries);
  if (form !== 'right' && form !== 'full') distribute(on, right.entries);
}

const joinKeywords = {
  inner: 'INNER JOIN',
  cross: 'INNER JOIN',
  left: 'LEFT JOIN',
  right: 'RIGHT JOIN',
  full: 'FULL OUTER JOIN',
  semi: 'SEMI JOIN',
  anti: 'ANTI JOIN',
} as const;

export interface GeneratorUse {
  readonly name: string;
  /** Bound. */
  readonly argument: Expression;
  readonly outer: boolean;
  readonly alias: RelationAlias;
}

/** Joins each row with the rows a generator makes of it. */
export function addGenerator(tools: FromTools, input: AnalyzedFrom, use: GeneratorUse): AnalyzedFrom {
  const made = (sql: string): Generated => generate(use.name, use.argument, { sql, outer: use.outer });
  const rows: RelationRows = {
    fields: made('').fields,
    print: () => `LATERAL (SELECT ${made(tools.expressions.print(use.argument)).values.join(', ')})`,
    prune: () => undefined,
  };
  const generated = named(tools, rows, use.alias, input.scope.parent);
  const scope: NameScope = {
    entries: [...input.scope.entries, ...generated.scope.entries],
    visible: [...input.scope.visible, ...generated.scope.visible],
    parent: input.scope.parent,
  };
  const print = (): string => {
    const inputSql = input.print();
    return inputSql === '' ? generated.print() : `${inputSql} CROSS JOIN ${generated.print()}`;
  };
  return { scope, print };
}
