import { isServiceError, serviceError } from '../base/errors.ts';
import { type FilePruner, filePruner } from '../expr/pruning/may-match.ts';
import { bindRowCondition, type RowCondition, refusalText } from '../expr/row-expression.ts';
import { sqlText } from '../expr/sql/engine-sql.ts';
import type { StructType } from '../schema/types.ts';
import type { ChangeFile } from '../table/changes.ts';
import { partitionValue, partitionValueSql, plainPartitionText } from '../table/partitioning/partition-text.ts';

/** Which rows of a table are a feed's: the condition of its `where`, bound to the table's columns. Null counts as no. */
export class FeedFilter {
  readonly where: string;
  readonly schema: StructType;
  /** Names of the columns that the condition is about. */
  readonly columns: readonly string[];
  readonly #mayMatch: readonly FilePruner[];

  private constructor(where: string, schema: StructType, { parts, reads }: RowCondition) {
    this.where = where;
    this.schema = schema;
    this.columns = reads.map((column) => schema.fields[column]?.name ?? '');
    this.#mayMatch = parts.map(filePruner);
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

  /** False: the values that the log gives for all rows of the file say that the condition is true of none. */
  mayMatch({ partitionValues }: Pick<ChangeFile, 'partitionValues'>): boolean {
    const facts = {
      column: ([name = '']: readonly string[]) => {
        const field = this.schema.fields.find((candidate) => candidate.name === name);
        if (field === undefined || !Object.hasOwn(partitionValues, name)) return undefined;
        const text = partitionValues[name];
        if (text === undefined || text === '') return { allNull: true };
        const value = partitionValue(text, field.type);
        if (value === undefined || value instanceof Uint8Array || Number.isNaN(value)) return undefined;
        return { min: value, max: value, nullCount: 0 };
      },
    };
    return this.#mayMatch.every((test) => test(facts));
  }

  /** The condition as SQL of the engine over columns `c0`, `c1`, … of those that the file holds, and which these are. */
  inFile({ partitionValues }: Pick<ChangeFile, 'partitionValues'>): { readonly given: StructType; readonly sql: string } {
    const given = this.schema.fields.filter(({ name }) => this.columns.includes(name) && !Object.hasOwn(partitionValues, name));
    const columnSql = (column: number): string => {
      const field = this.schema.fields[column];
      const place = given.findIndex(({ name }) => name === field?.name);
      if (field === undefined || place >= 0) return `c${place}`;
      const text = partitionValues[field.name];
      const plain = text === undefined || text === '' ? undefined : plainPartitionText(text, field.type);
      return partitionValueSql(plain === undefined ? 'NULL' : sqlText(plain), field.type);
    };
    const { sql } = bindRowCondition(this.where, { schema: this.schema, columnSql }, false);
    return { given: { kind: 'struct', fields: given }, sql };
  }
}
