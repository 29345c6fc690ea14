import { present } from '../base/assert.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { OpenEngine, PreparedRows } from '../engine/engine.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import { describeFields } from '../schema/describe-type.ts';
import type { StructType } from '../schema/types.ts';
import type { ChangeFileRequest } from './change-file.ts';

/** A partition of its own takes a query of its own. */
const maxPrepared = 16;
const result: StructType = { kind: 'struct', fields: [{ name: 'n', type: { kind: 'long' }, nullable: false }] };
/** Errors that a value may be the reason of. */
const ofValues: readonly string[] = ['ENGINE_QUERY_FAILED', 'ENGINE_RESULT_TOO_LARGE'];

/** Asks the engine of which rows a feed's condition is true. One call at a time. */
export class RowMatcher {
  readonly #openEngine: OpenEngine;
  /** By text and columns, the one that was used last at the end. */
  readonly #prepared = new Map<string, PreparedRows>();

  constructor(openEngine: OpenEngine) {
    this.#openEngine = openEngine;
  }

  /**
   * By row of the batches, one after the other: 1 where the condition is true; `undefined` without one.
   *
   * @throws ServiceError `CDF_FILTER_FAILED` (kind invalid) when it cannot be computed of some row.
   */
  async matches(request: ChangeFileRequest, batches: readonly ColumnBatch[]): Promise<Uint8Array | undefined> {
    const { filter, file } = request;
    if (filter === undefined) return undefined;
    const found = new Uint8Array(batches.reduce((sum, { rowCount }) => sum + rowCount, 0));
    if (found.length === 0 || file.ruledOut === true) return found;
    const { given, sql } = filter.inFile(file);
    try {
      const query = await this.#prepare(given, sql);
      let first = 0;
      for (const batch of batches) {
        for await (const { columns, rowCount } of query.run(columnsOf(batch, given))) {
          const [numbers] = columns;
          for (let index = 0; index < rowCount; index++)
            found[first + (numbers?.layout === 'fixed' ? Number(numbers.values[index]) : 0)] = 1;
        }
        first += batch.rowCount;
      }
    } catch (error) {
      if (!isServiceError(error) || !ofValues.includes(error.code)) throw error;
      throw cannotCompute(request, error);
    }
    return found;
  }

  async #prepare(given: StructType, sql: string): Promise<PreparedRows> {
    const identity = `${sql}\u0000${describeFields(given.fields)}`;
    const known = this.#prepared.get(identity);
    this.#prepared.delete(identity);
    const engine = await this.#openEngine();
    const query = known ?? (await engine.prepare(given, (source) => ({ sql: `SELECT n FROM (${source}) WHERE ${sql}`, schema: result })));
    this.#prepared.set(identity, query);
    for (const [oldest, unused] of this.#prepared) {
      if (this.#prepared.size <= maxPrepared) break;
      this.#prepared.delete(oldest);
      unused.close();
    }
    return query;
  }
}

function columnsOf(batch: ColumnBatch, given: StructType): ColumnBatch {
  const columns = given.fields.map(({ name }) => {
    const place = batch.schema.fields.findIndex((field) => field.name === name);
    return present(batch.columns[place], `column "${name}" was read`);
  });
  return { schema: given, rowCount: batch.rowCount, columns };
}

function cannotCompute({ filter, file, changes, location }: ChangeFileRequest, cause: ServiceError): ServiceError {
  return serviceError.invalid(
    'CDF_FILTER_FAILED',
    `where "${filter?.where ?? ''}" cannot be computed of a row of version ${changes.version} of ${location}, file "${file.path}": ${cause.message}`,
    { hint: 'write the condition so that it has an answer for every row: try_cast in place of cast, a test before a division', cause },
  );
}
