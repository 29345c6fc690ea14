import type { DataType, StructType } from '../../schema/types.ts';
import type { FieldSummary, PartitionValue } from './content-file.ts';
import { encodeSingleValue } from './single-value.ts';

/**
 * What the partition tuples of a manifest are between (https://iceberg.apache.org/spec/#manifest-lists, `field_summary`): one summary for
 * each field of the spec. NaN is in no bound.
 */
export class FieldSummaries {
  readonly #fields: readonly RunningSummary[];

  constructor(partition: StructType) {
    this.#fields = partition.fields.map(({ type }) => new RunningSummary(type));
  }

  add(tuple: readonly PartitionValue[]): void {
    for (const [index, field] of this.#fields.entries()) field.add(tuple[index]);
  }

  summaries(): readonly FieldSummary[] {
    return this.#fields.map((field) => field.summary());
  }
}

/** Compares two values of one type as bounds order them: text and binary by unsigned bytes, -0.0 before 0.0. */
export function compareValues(left: NonNullable<PartitionValue>, right: NonNullable<PartitionValue>): number {
  if (typeof left === 'string' && typeof right === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(right));
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  if (left === 0 && right === 0) return Number(Object.is(right, -0)) - Number(Object.is(left, -0));
  return left < right ? -1 : left > right ? 1 : 0;
}

class RunningSummary {
  readonly #type: DataType;
  #containsNull = false;
  #containsNan = false;
  #lower: NonNullable<PartitionValue> | undefined;
  #upper: NonNullable<PartitionValue> | undefined;

  constructor(type: DataType) {
    this.#type = type;
  }

  add(value: PartitionValue): void {
    if (value === undefined) {
      this.#containsNull = true;
      return;
    }
    if (typeof value === 'number' && Number.isNaN(value)) {
      this.#containsNan = true;
      return;
    }
    if (this.#lower === undefined || compareValues(value, this.#lower) < 0) this.#lower = value;
    if (this.#upper === undefined || compareValues(value, this.#upper) > 0) this.#upper = value;
  }

  summary(): FieldSummary {
    return {
      containsNull: this.#containsNull,
      containsNan: this.#containsNan,
      lowerBound: this.#lower === undefined ? undefined : encodeSingleValue(this.#type, this.#lower),
      upperBound: this.#upper === undefined ? undefined : encodeSingleValue(this.#type, this.#upper),
    };
  }
}
