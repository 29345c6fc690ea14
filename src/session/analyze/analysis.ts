import { bindNow, bindParameters, type ParameterValues } from '../../expr/bind-parameters.ts';
import type { Expression, SortKey } from '../../expr/expression.ts';
import { mapExpression, someNode } from '../../expr/expression-tree.ts';
import type { Analyzed, Nameable, NamedQuery } from '../plan/analyzed.ts';
import type { Plan } from '../plan/plan.ts';
import { type SubqueryForm, subqueryOf } from '../plan/subquery-name.ts';
import type { Execution } from '../run/execution.ts';
import { type BoundSubquery, bindTo, type Substitutes } from './bind.ts';
import { comparedRows } from './compared-rows.ts';
import { withRowPlaces } from './seeded-random.ts';

/** What a query may name beside the columns of its input. */
export interface QueryScope {
  /** Columns of the queries around, the innermost first. */
  readonly outer: readonly Nameable[];
  /** Queries of WITH, by lower-case name. */
  readonly named: ReadonlyMap<string, NamedQuery>;
  /** Queries in expressions, by their number in the text. */
  readonly subqueries: ReadonlyMap<string, Plan>;
  /** Temporary views, by lower-case name. */
  readonly views: ReadonlyMap<string, Plan>;
  readonly parameters: ParameterValues;
  /** Inside a catalog's view: where names are looked up. Default: where the session is. */
  readonly home?: { readonly catalog: string; readonly namespace: readonly string[] } | undefined;
  /** The catalogs' views around, the outermost first, by their whole names in quotes. */
  readonly viewsAround?: readonly string[] | undefined;
  /** The catalog's view that is being made (its whole name in quotes), which may not name anything temporary. */
  readonly permanentView?: string | undefined;
}

export const emptyScope: QueryScope = { outer: [], named: new Map(), subqueries: new Map(), views: new Map(), parameters: {} };

type Analyze = (analysis: Analysis, plan: Plan) => Promise<Analyzed>;

/** The search for what the names of a plan mean, at one place of it. */
export class Analysis {
  readonly execution: Execution;
  readonly scope: QueryScope;
  readonly #analyze: Analyze;

  constructor(execution: Execution, scope: QueryScope, analyze: Analyze) {
    this.execution = execution;
    this.scope = scope;
    this.#analyze = analyze;
  }

  /** The same with other names in force. */
  within(change: Partial<QueryScope>): Analysis {
    return new Analysis(this.execution, { ...this.scope, ...change }, this.#analyze);
  }

  /** @throws AnalysisException for what cannot be. */
  analyze(plan: Plan): Promise<Analyzed> {
    return this.#analyze(this, plan);
  }

  /** An expression with parameters and the present put in. */
  prepared(expression: Expression): Expression {
    return bindNow(bindParameters(expression, this.scope.parameters), this.execution.now);
  }

  /**
   * An expression over the columns of a node, or those of the queries around: every column path begins with an attribute's id.
   *
   * @throws AnalysisException as `bindTo`.
   */
  async bind(expression: Expression, input: Nameable, substitutes?: Substitutes): Promise<Expression> {
    const prepared = withRowPlaces(this.prepared(expression));
    const subqueries = await this.#subqueriesIn(prepared, input);
    const bound = bindTo(prepared, { input, outer: this.scope.outer, substitutes, subqueries });
    return subqueries.size === 0 ? bound : mapExpression(bound, (node) => comparedRows(this.execution, node));
  }

  async bindSortKey(key: SortKey, input: Nameable): Promise<SortKey> {
    return { ...key, expression: await this.bind(key.expression, input) };
  }

  async #subqueriesIn(expression: Expression, input: Nameable): Promise<ReadonlyMap<string, BoundSubquery>> {
    const found = new Map<string, BoundSubquery>();
    for (const { name, form, key } of subqueriesNamed(expression)) {
      const plan = this.scope.subqueries.get(key);
      if (plan === undefined || found.has(name)) continue;
      const query = await this.within({ outer: [input, ...this.scope.outer] }).analyze(plan);
      found.set(name, { id: this.execution.addSubquery(form, query), form, query });
    }
    return found;
  }
}

interface NamedSubquery {
  readonly name: string;
  readonly form: SubqueryForm;
  readonly key: string;
}

function subqueriesNamed(expression: Expression): readonly NamedSubquery[] {
  const found: NamedSubquery[] = [];
  someNode(expression, (node) => {
    const [name = '', ...members] = node.kind === 'column' ? node.path : [];
    const reference = members.length === 0 ? subqueryOf(name) : undefined;
    if (reference !== undefined) found.push({ name, ...reference });
    return false;
  });
  return found;
}
