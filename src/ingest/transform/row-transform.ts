import { present } from '../../base/assert.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import type { Engine, OpenEngine, PreparedRows } from '../../engine/engine.ts';
import type { TransformSpec } from '../../protocol/transform-spec.ts';
import { columnBytes } from '../../schema/column-bytes.ts';
import type { Column, ColumnBatch } from '../../schema/columns.ts';
import { concatBatches } from '../../schema/concat.ts';
import { sliceRows } from '../../schema/slice.ts';
import { takeRows } from '../../schema/take.ts';
import type { StructType } from '../../schema/types.ts';
import { settledRows } from './settled-rows.ts';
import { type TransformQuery, transformQuery } from './transform-sql.ts';
import { type FailedRecord, type TransformedRows, type TransformTarget } from './transformed-rows.ts';
import { valuesRead } from './values-read.ts';

/** Records that go through the engine at a time where each may become many rows. */
const sliceOfMany = 2_048;
/** What the engine may make of a slice; of a larger one the halves are tried. */
const maxSliceBytes = 128 * 2 ** 20;
/** Errors that a value may be the reason of. */
const ofValues: ReadonlySet<string> = new Set(['ENGINE_QUERY_FAILED', 'ENGINE_OUT_OF_MEMORY', 'ENGINE_RESULT_TOO_LARGE']);

/** The transform of one table, compiled once, for batch after batch; for one thread. */
export class RowTransform {
  readonly #spec: TransformSpec;
  readonly #target: TransformTarget;
  readonly #query: TransformQuery | undefined;
  readonly #run: PreparedRows | undefined;
  readonly #blame: PreparedRows | undefined;

  private constructor(
    spec: TransformSpec,
    target: TransformTarget,
    prepared?: { readonly query: TransformQuery; readonly run: PreparedRows; readonly blame: PreparedRows | undefined },
  ) {
    this.#spec = spec;
    this.#target = target;
    this.#query = prepared?.query;
    this.#run = prepared?.run;
    this.#blame = prepared?.blame;
  }

  /** Starts the engine only when something has to be computed. @throws ServiceError `ENGINE_QUERY_INVALID` for what the engine cannot plan. */
  static async prepare(spec: TransformSpec, target: TransformTarget, openEngine: OpenEngine): Promise<RowTransform> {
    const query = transformQuery(spec, target.schema);
    if (query === undefined) return new RowTransform(spec, target);
    const engine = await openEngine();
    const given: StructType = {
      kind: 'struct',
      fields: query.reads.map((index) => present(spec.record.fields[index], 'read columns are there')),
    };
    const run = await engine.prepare(given, query.relation);
    const blame = await preparedBlame(engine, given, query);
    return new RowTransform(spec, target, { query, run, blame });
  }

  close(): void {
    this.#run?.close();
    this.#blame?.close();
  }

  /** The rows of decoded records, in pieces whose sum is the batch. */
  async *apply(batch: ColumnBatch): AsyncGenerator<TransformedRows, void, undefined> {
    const size = this.#spec.generator === undefined ? Math.max(1, batch.rowCount) : sliceOfMany;
    for (let from = 0; from < batch.rowCount; from += size) {
      const until = Math.min(batch.rowCount, from + size);
      yield* this.#slice(batch, ascending(from, until));
    }
  }

  /** Records that fail leave, and the others are computed without them; what fails without one to blame is halved until it is one record. */
  async *#slice(batch: ColumnBatch, places: Int32Array): AsyncGenerator<TransformedRows, void, undefined> {
    const records = recordsAt(batch, places);
    const query = this.#query;
    if (query === undefined) {
      yield settledRows(this.#spec, this.#target, { records, places, computed: undefined });
      return;
    }
    let computed: ColumnBatch;
    try {
      computed = await this.#computed(query, records);
    } catch (error) {
      if (!isServiceError(error) || !ofValues.has(error.code)) throw error;
      const failed = await this.#blamed(query, records, places);
      if (failed.length > 0) {
        yield { ...nothing(this.#target.schema), failed };
        const gone = new Set(failed.map(({ row }) => row));
        const others = places.filter((place) => !gone.has(place));
        if (others.length > 0) yield* this.#slice(batch, others);
      } else if (places.length === 1) {
        const message = `the transform of the record fails: ${error.message}`;
        yield { ...nothing(this.#target.schema), failed: [{ row: places[0] ?? 0, reason: 'not-computed', message, suspends: false }] };
      } else {
        const middle = places.length >> 1;
        yield* this.#slice(batch, places.slice(0, middle));
        yield* this.#slice(batch, places.slice(middle));
      }
      return;
    }
    yield settledRows(this.#spec, this.#target, { records, places, computed: { columns: query.computes, result: computed } });
  }

  async #computed(query: TransformQuery, records: ColumnBatch): Promise<ColumnBatch> {
    const { schema } = query.relation('');
    const batches: ColumnBatch[] = [];
    let bytes = 0;
    for await (const batch of present(this.#run, 'prepared').run(read(query, records))) {
      batches.push(batch);
      bytes += batch.columns.reduce((sum, column) => sum + columnBytes(column), 0);
      if (bytes > maxSliceBytes) throw tooLarge(bytes);
    }
    return concatBatches(schema, batches);
  }

  async #blamed(query: TransformQuery, records: ColumnBatch, places: Int32Array): Promise<readonly FailedRecord[]> {
    const failed: FailedRecord[] = [];
    try {
      for await (const { columns, rowCount } of this.#blame?.run(read(query, records)) ?? []) {
        for (let index = 0; index < rowCount; index++) {
          const row = numberAt(columns[0], index);
          const step = present(query.steps[numberAt(columns[1], index)], 'a step is blamed');
          const message = `${step.place} cannot be computed${valuesRead(step, records, row)}`;
          failed.push({ row: places[row] ?? 0, reason: 'not-computed', message, suspends: false });
        }
      }
    } catch (error) {
      if (!isServiceError(error) || !ofValues.has(error.code)) throw error;
      return [];
    }
    return failed;
  }
}

function numberAt(column: Column | undefined, index: number): number {
  return column?.layout === 'fixed' ? Number(column.values[index]) : 0;
}

/** Calls that count what rows are going to take cannot be tried; their failures are found by halving. */
async function preparedBlame(engine: Engine, given: StructType, query: TransformQuery): Promise<PreparedRows | undefined> {
  try {
    return await engine.prepare(given, query.blame);
  } catch (error) {
    if (isServiceError(error) && error.code === 'ENGINE_QUERY_INVALID') return undefined;
    throw error;
  }
}

function nothing(schema: StructType): TransformedRows {
  return { rows: concatBatches(schema, []), records: 0, failed: [], filtered: 0, empty: 0, unmet: new Map() };
}

function read({ reads }: TransformQuery, records: ColumnBatch): ColumnBatch {
  const fields = reads.map((index) => present(records.schema.fields[index], 'read columns are there'));
  const columns = reads.map((index) => present(records.columns[index], 'read columns are there'));
  return { schema: { kind: 'struct', fields }, rowCount: records.rowCount, columns };
}

function ascending(from: number, until: number): Int32Array {
  const numbers = new Int32Array(until - from);
  for (let index = 0; index < numbers.length; index++) numbers[index] = from + index;
  return numbers;
}

/** The records at ascending places; those that lie together share the buffers of the batch. */
function recordsAt(batch: ColumnBatch, places: Int32Array): ColumnBatch {
  const from = places[0] ?? 0;
  if (places.length === batch.rowCount) return batch;
  const together = (places.at(-1) ?? -1) - from + 1 === places.length;
  return together ? sliceRows(batch, { from, until: from + places.length }) : takeRows(batch, places);
}

function tooLarge(bytes: number): ServiceError {
  return serviceError.invalid('ENGINE_RESULT_TOO_LARGE', `its rows take more than ${bytes} bytes`);
}
