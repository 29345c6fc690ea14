import type { DataType, StructType } from '../../../schema/types.ts';
import type { ProcedureParameter, ProcedureValue } from '../../../table/queries.ts';

/** The arguments of a call, each as its parameter's type says. */
export class ProcedureValues {
  readonly #values: ReadonlyMap<string, ProcedureValue>;

  constructor(values: ReadonlyMap<string, ProcedureValue>) {
    this.#values = values;
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name);
    return typeof value === 'string' ? value : undefined;
  }

  int(name: string): number | undefined {
    const value = this.#values.get(name);
    return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
  }

  long(name: string): bigint | undefined {
    const value = this.#values.get(name);
    return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : undefined;
  }

  boolean(name: string): boolean | undefined {
    const value = this.#values.get(name);
    return typeof value === 'boolean' ? value : undefined;
  }

  /** A timestamp in milliseconds since the epoch. */
  millis(name: string): number | undefined {
    const micros = this.long(name);
    return micros === undefined ? undefined : Number(micros / 1_000n - (micros % 1_000n < 0n ? 1n : 0n));
  }

  longs(name: string): readonly bigint[] | undefined {
    const value = this.#values.get(name);
    return Array.isArray(value) ? (value as readonly (string | bigint)[]).map(BigInt) : undefined;
  }

  texts(name: string): readonly string[] | undefined {
    const value = this.#values.get(name);
    return Array.isArray(value) ? (value as readonly (string | bigint)[]).map(String) : undefined;
  }

  map(name: string): ReadonlyMap<string, string> | undefined {
    const value = this.#values.get(name);
    return value instanceof Map ? (value as ReadonlyMap<string, string>) : undefined;
  }
}

export function optional(name: string, type: ProcedureParameter['type']): ProcedureParameter {
  return { name, type, required: false };
}

export function required(name: string, type: ProcedureParameter['type']): ProcedureParameter {
  return { name, type, required: true };
}

/** Columns of a procedure's result; all may be null. */
export function resultColumns(columns: Readonly<Record<string, 'string' | 'integer' | 'long' | 'timestamp'>>): StructType {
  const typeOf = (kind: 'string' | 'integer' | 'long' | 'timestamp'): DataType => ({ kind });
  return { kind: 'struct', fields: Object.entries(columns).map(([name, kind]) => ({ name, type: typeOf(kind), nullable: true })) };
}
