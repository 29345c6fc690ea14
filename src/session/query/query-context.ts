import type { Engine } from '../../engine/engine.ts';
import { bindNow, bindParameters, type ParameterValues } from '../../expr/bind-parameters.ts';
import { conjunction, type Expression } from '../../expr/expression.ts';
import { mapExpression } from '../../expr/expression-tree.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { ExtentColumn, TableExtent } from '../../table/table-extent.ts';
import type { QueryReference, QuerySource, ResolveReference } from './query-source.ts';
import { standInRows } from './stand-in.ts';

export interface QueryOptions {
  readonly engine: Engine;
  readonly resolve: ResolveReference;
  /** The instant the query calls now, in microseconds since the epoch. */
  readonly nowMicros: bigint;
  readonly parameters?: ParameterValues | undefined;
  /** What the word DEFAULT stands for in the query's own rows of VALUES, by place. Absent: it is a name like others. */
  readonly defaults?: readonly Expression[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A source in use by one mention of it: conditions gather until its rows are asked for. */
export interface UsedSource {
  readonly schema: StructType;
  readonly hidden: readonly Field[];
  readonly filters: Expression[];
  /** SQL of its rows; before they are there, of none of the same types. */
  sql(): string;
  /** Says that the query needs no row of it when its metadata tells this. Absent: it tells nothing. */
  readonly ask?: ((columns: readonly ExtentColumn[]) => void) | undefined;
  /** What its metadata told; its rows are not opened then. */
  told(): TableExtent | undefined;
}

interface OpenedSource {
  readonly source: QuerySource;
  readonly filters: Expression[];
  sql: string;
  question: readonly ExtentColumn[] | undefined;
  told: TableExtent | undefined;
}

/** What the analysis of one statement shares. */
export class QueryContext {
  readonly options: QueryOptions;
  readonly #sources: OpenedSource[] = [];
  readonly #deferred: (() => boolean)[] = [];
  #lastRelation = 0;

  constructor(options: QueryOptions) {
    this.options = options;
  }

  /** A name for a relation in the engine's text, unique in the statement. */
  nextRelation(): string {
    this.#lastRelation += 1;
    return `r${this.#lastRelation}`;
  }

  async use(reference: QueryReference): Promise<UsedSource> {
    const source = await this.options.resolve(reference);
    const { schema, hidden = [] } = source;
    const sql = standInRows([...schema.fields, ...hidden]);
    const used: OpenedSource = { source, filters: [], sql, question: undefined, told: undefined };
    this.#sources.push(used);
    const ask = (columns: readonly ExtentColumn[]): void => {
      used.question = columns;
    };
    const offered = source.extent === undefined ? {} : { ask };
    return { schema, hidden, filters: used.filters, sql: () => used.sql, told: () => used.told, ...offered };
  }

  /** Runs when the whole statement is analysed, before rows are asked for; again while any such work says that it did something. */
  defer(work: () => boolean): void {
    this.#deferred.push(work);
  }

  /** An expression with parameters and the present time put in. */
  prepared(expression: Expression): Expression {
    const numbered = mapExpression(expression, (node) =>
      node.kind === 'parameter' && typeof node.name === 'string' && /^\d+$/u.test(node.name) ? { ...node, name: Number(node.name) } : node,
    );
    return bindNow(bindParameters(numbered, this.options.parameters ?? {}), this.options.nowMicros);
  }

  async openSources(): Promise<void> {
    while (this.#deferred.map((work) => work()).includes(true));
    for (const used of this.#sources) {
      if (used.question !== undefined && used.filters.length === 0) used.told = await used.source.extent?.(used.question);
      if (used.told !== undefined) continue;
      const relation = await used.source.relation(conjunction(used.filters));
      used.sql = relation.sql;
    }
  }
}
