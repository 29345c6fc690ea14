import type { Expression } from '../../expr/expression.ts';
import { someNode } from '../../expr/expression-tree.ts';
import { columnPathSql, expressionSql, quoteName } from '../../expr/sql/engine-sql.ts';
import type { DataType } from '../../schema/types.ts';
import type { AnalyzedQuery, QueryEnvironment } from './analyzed-query.ts';
import type { QueryContext } from './query-context.ts';
import { bindIn, type NameScope, type Substitutes } from './scope.ts';
import { subqueryOf, subqueryQualifier } from './select-tree.ts';

/** Analyses a query inside of an expression. */
export type AnalyzeNested = (environment: QueryEnvironment) => Promise<AnalyzedQuery>;

/** Binds and prints the expressions of one query. */
export class QueryExpressions {
  readonly #context: QueryContext;
  readonly #environment: QueryEnvironment;
  readonly #analyzeNested: AnalyzeNested;
  readonly #subqueries = new Map<string, AnalyzedQuery>();

  constructor(context: QueryContext, environment: QueryEnvironment, analyzeNested: AnalyzeNested) {
    this.#context = context;
    this.#environment = environment;
    this.#analyzeNested = analyzeNested;
  }

  /** @throws AnalysisException as `bindExpression`. */
  async bind(expression: Expression, scope: NameScope, substitutes?: Substitutes): Promise<Expression> {
    const prepared = this.#context.prepared(expression);
    const types = new Map<string, DataType | undefined>();
    for (const name of subqueryNames(prepared)) {
      const reference = subqueryOf(name);
      const tree = reference === undefined ? undefined : this.#environment.tree.subqueries.get(reference.key);
      if (reference === undefined || tree === undefined) continue;
      const analyzed = await this.#analyzeNested({ named: this.#environment.named, parent: scope, tree });
      this.#subqueries.set(name, analyzed);
      types.set(
        name,
        reference.form === 'exists' ? { kind: 'boolean' } : reference.form === 'scalar' ? analyzed.fields[0]?.type : undefined,
      );
    }
    return bindIn(scope, prepared, { substitutes, subqueryTypes: types });
  }

  print(expression: Expression): string {
    return expressionSql(expression, (path, qualifier) => {
      if (qualifier === subqueryQualifier) return this.#printSubquery(path);
      return columnPathSql(path, qualifier === undefined ? undefined : quoteName(qualifier));
    });
  }

  #printSubquery(path: readonly string[]): string {
    const [name = '', ...members] = path;
    const sql = this.#subqueries.get(name)?.print() ?? 'SELECT NULL';
    switch (subqueryOf(name)?.form) {
      case 'exists':
        return `EXISTS (${sql})`;
      // Stands in the parentheses of IN.
      case 'in':
        return sql;
      default:
        return members.reduce((value, member) => `struct_extract(${value}, ${quoteText(member)})`, `(${sql})`);
    }
  }
}

/** Whether a query takes part. */
export function hasSubquery(expression: Expression): boolean {
  return subqueryNames(expression).length > 0;
}

function subqueryNames(expression: Expression): readonly string[] {
  const names: string[] = [];
  someNode(expression, (node) => {
    const [name = '', ...members] = node.kind === 'column' ? node.path : [];
    if (members.length === 0 && subqueryOf(name) !== undefined) names.push(name);
    return false;
  });
  return names;
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
