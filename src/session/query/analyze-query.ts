import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression, SortKey } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { quoteName, sortKeySql } from '../../expr/sql/engine-sql.ts';
import type { DataType, Field } from '../../schema/types.ts';
import { analyzeSelect, positionOf } from './analyze-select.ts';
import type { AnalyzedQuery, NamedQuery, QueryEnvironment } from './analyzed-query.ts';
import { describedTypes } from './described-types.ts';
import { QueryExpressions } from './expressions.ts';
import type { QueryContext } from './query-context.ts';
import type { FromTools } from './query-tools.ts';
import { emptyScope, scopeColumns, scopeOf } from './scope.ts';
import type { QueryBody, QueryTree } from './select-tree.ts';

/** Finds names, types and sources of a query and of all queries in it. */
export async function analyzeQuery(context: QueryContext, environment: QueryEnvironment): Promise<AnalyzedQuery> {
  const { tree } = environment;
  const { named, printWiths } = nameQueries(context, environment);
  const inner: QueryEnvironment = { ...environment, named };
  const tools = toolsOf(context, inner);
  const limits = await limitSql(tools, tree);
  const body = await analyzeBody(tools, tree.body, tree.orderBy);
  const print = (): string => `${printWiths()}${body.print()}${limits}`;
  // Rows beyond a limit must be counted, whatever is asked of those within.
  return { fields: body.fields, print, prune: limits === '' ? body.prune : () => undefined };
}

function toolsOf(context: QueryContext, environment: QueryEnvironment): FromTools {
  const nested = (inner: QueryEnvironment): Promise<AnalyzedQuery> => analyzeQuery(context, inner);
  return { context, environment, expressions: new QueryExpressions(context, environment, nested), analyzeQuery: nested };
}

async function analyzeBody(tools: FromTools, body: QueryBody, orderBy: readonly SortKey[]): Promise<AnalyzedQuery> {
  if (body.kind === 'select') return analyzeSelect(tools, body.select, orderBy);
  const analyzed = await analyzeUnsorted(tools, body);
  return orderBy.length === 0 ? analyzed : sorted(tools, analyzed, orderBy);
}

async function analyzeUnsorted(tools: FromTools, body: QueryBody): Promise<AnalyzedQuery> {
  switch (body.kind) {
    case 'select':
      return analyzeSelect(tools, body.select, []);
    case 'nested': {
      const query = await tools.analyzeQuery({ ...tools.environment, tree: body.query });
      return { ...query, print: () => `(${query.print()})` };
    }
    case 'values':
      return analyzeValues(tools, body.rows);
    case 'set':
      return analyzeSet(tools, body);
  }
}

async function analyzeSet(tools: FromTools, body: Extract<QueryBody, { kind: 'set' }>): Promise<AnalyzedQuery> {
  const left = await analyzeUnsorted(tools, body.left);
  const right = await analyzeUnsorted(tools, body.right);
  if (left.fields.length !== right.fields.length) {
    throw new AnalysisException({
      errorClass: 'NUM_COLUMNS_MISMATCH',
      sqlState: '42826',
      message: `${body.operation.toUpperCase()} can only be performed on inputs with the same number of columns, but the first input has ${left.fields.length} columns and the second input has ${right.fields.length} columns.`,
      parameters: {
        operator: body.operation.toUpperCase(),
        firstNumColumns: String(left.fields.length),
        invalidNumColumns: String(right.fields.length),
      },
    });
  }
  const operation = `${body.operation.toUpperCase()}${body.all ? ' ALL' : ''}`;
  const print = (): string => `(${left.print()}) ${operation} (${right.print()})`;
  const types = await describedTypes(tools, print());
  const fields = left.fields.map(
    (field, index): Field => ({
      name: field.name,
      type: types[index] ?? field.type,
      nullable: field.nullable || right.fields[index]?.nullable !== false,
    }),
  );
  // A side of other types compares otherwise.
  const prune = (condition: Expression): void => {
    for (const side of [left, right]) {
      const same = side.fields.every((field, index) => field.type.kind === fields[index]?.type.kind);
      if (same) side.prune(condition);
    }
  };
  return { fields, print, prune };
}

async function analyzeValues(tools: FromTools, rows: readonly (readonly Expression[])[]): Promise<AnalyzedQuery> {
  const width = rows[0]?.length ?? 0;
  const bound: (readonly Expression[])[] = [];
  for (const row of rows) {
    if (row.length !== width) {
      throw new AnalysisException({
        errorClass: 'INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH',
        sqlState: '42000',
        message: `Cannot use an inline table: inline table expected ${width} columns but found ${row.length} columns in a row.`,
      });
    }
    const values: Expression[] = [];
    for (const value of row) values.push(await tools.expressions.bind(value, { ...emptyScope, parent: tools.environment.parent }));
    bound.push(values);
  }
  const columns = Array.from({ length: width }, (_, index) => quoteName(`col${index + 1}`));
  const printRows = (): string => bound.map((row) => `(${row.map((value) => tools.expressions.print(value)).join(', ')})`).join(', ');
  const print = (): string => `SELECT * FROM (VALUES ${printRows()}) AS v(${columns.join(', ')})`;
  const known = Array.from({ length: width }, (_, index) => sameType(bound.map((row) => row[index])));
  const types = known.some((type) => type === undefined) ? await describedTypes(tools, print()) : [];
  const fields = known.map(
    (type, index): Field => ({
      name: `col${index + 1}`,
      type: type ?? types[index] ?? { kind: 'string' },
      nullable: bound.some((row) => !isValue(row[index])),
    }),
  );
  return { fields, print, prune: () => undefined };
}

function sameType(values: readonly (Expression | undefined)[]): DataType | undefined {
  const types = values.map((value) => (value === undefined ? undefined : expressionType(value)));
  const [first] = types;
  return first !== undefined && first.kind !== 'decimal' && types.every((type) => type?.kind === first.kind) ? first : undefined;
}

function isValue(value: Expression | undefined): boolean {
  return value?.kind === 'literal' && value.literal.type !== 'null';
}

/** A query whose own names are all a sort may use. */
async function sorted(tools: FromTools, query: AnalyzedQuery, orderBy: readonly SortKey[]): Promise<AnalyzedQuery> {
  const columns = scopeColumns(query.fields);
  const id = tools.context.nextRelation();
  const scope = scopeOf({ id, alias: undefined, columns, prune: () => undefined }, tools.environment.parent);
  const keys: string[] = [];
  for (const key of orderBy) {
    const place = positionOf(key.expression, columns.length, 'ORDER BY');
    const sql = place === undefined ? tools.expressions.print(await tools.expressions.bind(key.expression, scope)) : String(place + 1);
    keys.push(sortKeySql(sql, key.descending, key.nullsFirst));
  }
  const names = columns.map((column) => quoteName(column.sqlName)).join(', ');
  const print = (): string => `SELECT ${names} FROM (${query.print()}) AS ${quoteName(id)}(${names}) ORDER BY ${keys.join(', ')}`;
  return { ...query, print };
}

async function limitSql(tools: FromTools, tree: QueryTree): Promise<string> {
  let sql = '';
  for (const [word, value] of [
    ['LIMIT', tree.limit],
    ['OFFSET', tree.offset],
  ] as const) {
    if (value !== undefined) sql += ` ${word} CAST(${tools.expressions.print(await tools.expressions.bind(value, emptyScope))} AS BIGINT)`;
  }
  return sql;
}

function nameQueries(
  context: QueryContext,
  environment: QueryEnvironment,
): { readonly named: ReadonlyMap<string, NamedQuery>; readonly printWiths: () => string } {
  const named = new Map(environment.named);
  const uses: { readonly query: NamedQuery; readonly prints: () => string | undefined }[] = [];
  for (const { name, columns, query: tree } of environment.tree.withs) {
    // A later query of the same WITH may use the ones before it.
    const visible = new Map(named);
    const use = namedQuery(context, { named: visible, parent: undefined, tree }, columns);
    uses.push(use);
    named.set(name.toLowerCase(), use.query);
  }
  const printWiths = (): string => {
    const texts = uses.flatMap(({ query, prints }) => {
      const sql = prints();
      return sql === undefined ? [] : [`${quoteName(query.sqlName)} AS (${sql})`];
    });
    return texts.length === 0 ? '' : `WITH ${texts.join(', ')} `;
  };
  return { named, printWiths };
}

function namedQuery(
  context: QueryContext,
  environment: QueryEnvironment,
  columns: readonly string[] | undefined,
): { readonly query: NamedQuery; readonly prints: () => string | undefined } {
  const sqlName = `with_${context.nextRelation()}`;
  let analyzing: Promise<AnalyzedQuery> | undefined;
  let found: AnalyzedQuery | undefined;
  const conditions: Expression[] = [];
  let mentions = 0;
  const analyzed = (): Promise<AnalyzedQuery> => {
    analyzing ??= analyzeQuery(context, environment).then((query) => {
      found = query;
      return query;
    });
    return analyzing;
  };
  context.defer(() => {
    if (mentions !== 1 || conditions.length === 0) return false;
    for (const condition of conditions.splice(0)) found?.prune(condition);
    return true;
  });
  const mention = (): { readonly prune: (condition: Expression) => void } => {
    mentions += 1;
    return { prune: (condition) => conditions.push(condition) };
  };
  return { query: { sqlName, columns, analyzed, mention }, prints: () => (mentions === 0 ? undefined : found?.print()) };
}
