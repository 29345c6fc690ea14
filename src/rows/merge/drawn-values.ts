import { present } from '../../base/assert.ts';
import type { Expression } from '../../expr/expression.ts';
import { columnsOf, isDeterministic, mapExpression } from '../../expr/expression-tree.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { HiddenNames } from '../change/hidden-names.ts';
import { touchedColumn } from '../change/rewrite-sql.ts';
import { notDeterministic, RowScope, type Side } from '../change/row-scope.ts';
import type { RowWork } from '../row-work.ts';

/**
 * Calls that answer differently each time, as columns of the rows that a MERGE changes: each is asked once for a row, however often the new
 * values are computed (the row, its image in the change feed).
 */
export class DrawnValues implements Side {
  readonly alias = undefined;
  readonly #work: RowWork;
  readonly #hidden: HiddenNames;
  readonly #drawn: { readonly field: Field; readonly sql: string }[] = [];

  constructor(work: RowWork, hidden: HiddenNames) {
    this.#work = work;
    this.#hidden = hidden;
  }

  get schema(): StructType {
    return { kind: 'struct', fields: this.#drawn.map(({ field }) => field) };
  }

  columnSql(name: string): string {
    return touchedColumn(name);
  }

  /**
   * The bound value with a column in place of each such call.
   *
   * @throws AnalysisException `INVALID_NON_DETERMINISTIC_EXPRESSIONS` (42K0E) for a call that looks at columns.
   */
  async draw(bound: Expression): Promise<Expression> {
    const calls: Expression[] = [];
    const names = (place: number): string => this.#hidden.drawn(this.#drawn.length + place);
    const settled = mapExpression(bound, (node) => {
      if (node.kind !== 'call' || isDeterministic(node)) return node;
      if (columnsOf(node).length > 0) throw notDeterministic([bound]);
      return { kind: 'column', path: [names(calls.push(node) - 1)] };
    });
    const scope = new RowScope([], this.#work.now);
    const types = await scope.typesOf(this.#work.engine, calls, this.#work.signal);
    const fields = calls.map((_, place): Field => {
      return { name: names(place), type: present(types[place], 'every value has a type'), nullable: true };
    });
    this.#drawn.push(...fields.map((field, place) => ({ field, sql: scope.sql(present(calls[place], 'a field for each call')) })));
    return settled;
  }

  /** The rows with the values beside them. */
  async beside(rows: Relation): Promise<Relation> {
    if (this.#drawn.length === 0) return rows;
    const columns = this.#drawn.map(({ field, sql }) => `${sql} AS ${quoteName(field.name)}`);
    const schema: StructType = { kind: 'struct', fields: [...rows.schema.fields, ...this.schema.fields] };
    const { engine, signal } = this.#work;
    return this.#work.holding(engine.materialize({ sql: `SELECT *, ${columns.join(', ')} FROM (${rows.sql})`, schema }, signal));
  }
}
