import { present } from '../base/assert.ts';
import { isServiceError, serviceError } from '../base/errors.ts';
import { conjunction, type Expression } from '../expr/expression.ts';
import { bindRowCondition, type RowCondition, refusalText } from '../expr/row-expression.ts';
import { sqlText } from '../expr/sql/engine-sql.ts';
import type { StructType } from '../schema/types.ts';
import type { ChangeFile } from '../table/changes.ts';
import { partitionValueSql } from '../table/partitioning/partition-text.ts';
import { isConstant } from './partition-column.ts';

/** Which rows of a table are a feed's: the condition of its `where`, bound to the table's columns. Null counts as no. */
export class FeedFilter {
  readonly where: string;
  readonly schema: StructType;
  /** Names of the columns that the condition is about. */
  readonly columns: readonly string[];
  /** Bound to the table's columns. */
  readonly condition: Expression;

  private constructor(where: string, schema: StructType, { parts, reads }: RowCondition) {
    this.where = where;
    this.schema = schema;
    this.columns = reads.map((column) => schema.fields[column]?.name ?? '');
    this.condition = present(conjunction(parts), 'a condition has parts');
  }

  /** @throws ServiceError `CDF_FILTER_INVALID` (kind invalid), with the place in the text, for what is no condition over these columns. */
  static of(where: string, schema: StructType): FeedFilter {
    try {
      return new FeedFilter(where, schema, bindRowCondition(where, { schema, columnSql: (column) => `c${column}` }, false));
    } catch (cause) {
      if (!isServiceError(cause, 'invalid', 'unsupported')) throw cause;
      throw serviceError.invalid('CDF_FILTER_INVALID', `where "${where}": ${refusalText(cause)}`, {
        hint: "correct the feed's where; it is a condition over the columns that the table has, as in a WHERE of SQL",
        cause,
      });
    }
  }

  /** The condition as SQL of the engine over columns `c0`, `c1`, … of those that the file holds, and which these are. */
  inFile(file: Pick<ChangeFile, 'partitionValues' | 'layout'>): { readonly given: StructType; readonly sql: string } {
    const given = this.schema.fields.filter(({ name }) => this.columns.includes(name) && !isConstant(file, name));
    const columnSql = (column: number): string => {
      const field = this.schema.fields[column];
      const place = given.findIndex(({ name }) => name === field?.name);
      if (field === undefined || place >= 0) return `c${place}`;
      const text = file.partitionValues[field.name];
      return partitionValueSql(text === undefined ? 'NULL' : sqlText(text), field.type);
    };
    const { sql } = bindRowCondition(this.where, { schema: this.schema, columnSql }, false);
    return { given: { kind: 'struct', fields: given }, sql };
  }
}
