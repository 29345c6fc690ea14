import { present } from '../../base/assert.ts';
import type { HeldRelation } from '../../engine/engine.ts';
import { quoteName, typeSql } from '../../expr/sql/engine-sql.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import { countRows } from '../change/engine-counts.ts';
import type { HiddenNames } from '../change/hidden-names.ts';
import type { RowWork } from '../row-work.ts';

/** The source of a MERGE: evaluated once, every row numbered, every column under a name of its own. */
export class MergeSource {
  readonly rows: HeldRelation;
  readonly schema: StructType;
  readonly rowCount: bigint;
  readonly #hidden: HiddenNames;

  private constructor(rows: HeldRelation, parts: { readonly schema: StructType; readonly rowCount: bigint; readonly hidden: HiddenNames }) {
    this.rows = rows;
    this.schema = parts.schema;
    this.rowCount = parts.rowCount;
    this.#hidden = parts.hidden;
  }

  static async hold(work: RowWork, source: Relation, hidden: HiddenNames): Promise<MergeSource> {
    const { fields } = source.schema;
    const columns = fields.map((field, index) => `s.${quoteName(field.name)} AS ${quoteName(hidden.source(index))}`);
    const sql = `SELECT ${[...columns, `row_number() OVER () AS ${quoteName(hidden.sourceRow)}`].join(', ')} FROM (${source.sql}) s`;
    const schema: StructType = {
      kind: 'struct',
      fields: [
        ...fields.map((field, index) => ({ ...field, name: hidden.source(index) })),
        { name: hidden.sourceRow, type: { kind: 'long' }, nullable: false },
      ],
    };
    const rows = await work.holding(work.engine.materialize({ sql, schema }, work.signal));
    return new MergeSource(rows, { schema: source.schema, rowCount: await countRows(work, rows), hidden });
  }

  /** Where the rows have a column of the source. */
  columnOf(name: string): string {
    return this.#hidden.source(this.#indexOf(name));
  }

  carriedField(name: string): Field {
    const { type } = this.#fieldOf(name);
    return { name: this.columnOf(name), type, nullable: true };
  }

  typeSqlOf(name: string): string {
    return typeSql(this.#fieldOf(name).type);
  }

  #fieldOf(name: string): Field {
    return present(this.schema.fields[this.#indexOf(name)], 'a bound column is one of the source');
  }

  #indexOf(name: string): number {
    return this.schema.fields.findIndex((field) => field.name === name);
  }
}
