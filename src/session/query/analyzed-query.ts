import type { Expression } from '../../expr/expression.ts';
import type { Field } from '../../schema/types.ts';
import type { NameScope } from './scope.ts';
import type { QueryTree } from './select-tree.ts';

/** A query whose names are found and whose columns have types. */
export interface AnalyzedQuery {
  readonly fields: readonly Field[];
  /** SQL of the engine; of no rows while the sources are not open. */
  readonly print: () => string;
  /** Takes a condition over the query's outputs (`outputColumn`) that every row in use satisfies, and hands it to its sources if it can. */
  readonly prune: (condition: Expression) => void;
}

/** A query named by WITH: analysed when first mentioned, evaluated once for all mentions. */
export interface NamedQuery {
  /** In the engine's text. */
  readonly sqlName: string;
  readonly columns: readonly string[] | undefined;
  readonly analyzed: () => Promise<AnalyzedQuery>;
  /** Counts a mention; conditions reach the query when there is one only. */
  readonly mention: () => { readonly prune: (condition: Expression) => void };
}

/** What is in force around a query. */
export interface QueryEnvironment {
  /** By lower-case name. */
  readonly named: ReadonlyMap<string, NamedQuery>;
  /** The query around it, where names of its rows may be used. */
  readonly parent: NameScope | undefined;
  readonly tree: QueryTree;
}

const outputQualifier = 'output ';

/** The output of a query at a place, for conditions handed down. */
export function outputColumn(index: number, members: readonly string[]): Expression {
  return { kind: 'column', path: [String(index), ...members], qualifier: outputQualifier };
}

/** The place of an output, from its column. */
export function outputIndex(path: readonly string[]): number {
  return Number(path[0]);
}
