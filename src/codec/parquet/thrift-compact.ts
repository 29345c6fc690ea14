import { type ServiceError, serviceError } from '../../base/errors.ts';

/** Type codes of Thrift's compact protocol. A boolean field says its value by its code. */
export const thriftType = {
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const;

export type ThriftValue = boolean | bigint | Uint8Array | ThriftList | ThriftStruct;

export interface ThriftField {
  readonly id: number;
  readonly type: number;
  readonly value: ThriftValue;
}

/** Fields in the order they were written, those nobody here knows included. */
export interface ThriftStruct {
  readonly kind: 'struct';
  readonly fields: readonly ThriftField[];
}

/** Lists and sets. */
export interface ThriftList {
  readonly kind: 'list';
  readonly elementType: number;
  readonly items: readonly ThriftValue[];
}

const maxDepth = 32;
const maxVarintBytes = 10;
const doubleBytes = 8;
const longListMark = 15;
const maxShortFieldStep = 15;

/**
 * The struct that `bytes` begin with, as a tree. Printing the tree gives the same bytes, as long as the writer used the shortest forms.
 *
 * @param upToField what follows the field of this id is not looked at. Default: the whole struct.
 * @throws ServiceError `PARQUET_CORRUPT` (corrupt) when it cannot be followed; maps, which Parquet does not have, included.
 */
export function parseThriftStruct(bytes: Uint8Array, upToField: number = Number.POSITIVE_INFINITY): ThriftStruct {
  return new CompactReader(bytes).struct(0, upToField);
}

/** A struct in compact protocol. */
export function printThriftStruct(struct: ThriftStruct): Uint8Array {
  const writer = new CompactWriter();
  writer.struct(struct);
  return writer.bytes();
}

/** The header of a list field: the struct's field before it has the id `afterId`. Its items follow, printed one by one. */
export function printThriftListHeader(
  field: { readonly id: number; readonly afterId: number },
  elementType: number,
  size: number,
): Uint8Array {
  const writer = new CompactWriter();
  writer.fieldHeader(field.id, thriftType.list, field.afterId);
  writer.listHeader(elementType, size);
  return writer.bytes();
}

/** Fields without the end of their struct, whose field before them has the id `afterId` (0: they are the first). */
export function printThriftFields(fields: readonly ThriftField[], afterId: number): Uint8Array {
  const writer = new CompactWriter();
  writer.fields(fields, afterId);
  return writer.bytes();
}

/** The value of a field, or `undefined` when the struct has no such field. */
export function thriftField(struct: ThriftStruct, id: number): ThriftValue | undefined {
  return struct.fields.find((field) => field.id === id)?.value;
}

class CompactReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  struct(depth: number, upToField: number = Number.POSITIVE_INFINITY): ThriftStruct {
    if (depth > maxDepth) throw corrupt(`nesting deeper than ${maxDepth}`);
    const fields: ThriftField[] = [];
    for (let lastId = 0; ; ) {
      const header = this.#byte();
      const type = header & 0x0f;
      if (type === 0) return { kind: 'struct', fields };
      lastId = header >> 4 === 0 ? Number(this.#zigzag()) : lastId + (header >> 4);
      const isFlag = type === thriftType.true || type === thriftType.false;
      fields.push({ id: lastId, type, value: isFlag ? type === thriftType.true : this.#value(type, depth) });
      if (lastId >= upToField) return { kind: 'struct', fields };
    }
  }

  #value(type: number, depth: number): ThriftValue {
    switch (type) {
      // In lists only: there a flag takes a byte, which is kept as it is.
      case thriftType.true:
      case thriftType.false:
      case thriftType.byte:
        return this.#take(1);
      case thriftType.i16:
      case thriftType.i32:
      case thriftType.i64:
        return this.#zigzag();
      case thriftType.double:
        return this.#take(doubleBytes);
      case thriftType.binary:
        return this.#take(this.#size());
      case thriftType.list:
      case thriftType.set:
        return this.#list(depth + 1);
      case thriftType.struct:
        return this.struct(depth + 1);
      default:
        throw corrupt(`thrift type ${type}`);
    }
  }

  #list(depth: number): ThriftList {
    if (depth > maxDepth) throw corrupt(`nesting deeper than ${maxDepth}`);
    const header = this.#byte();
    const elementType = header & 0x0f;
    const size = header >> 4 === longListMark ? this.#size() : header >> 4;
    if (size > this.#bytes.length - this.#position) throw corrupt(`a list of ${size} elements`);
    const items: ThriftValue[] = [];
    for (let left = size; left > 0; left--) items.push(this.#value(elementType, depth));
    return { kind: 'list', elementType, items };
  }

  #size(): number {
    const size = this.#varint();
    if (size > BigInt(this.#bytes.length)) throw corrupt(`${size} bytes in a footer of ${this.#bytes.length}`);
    return Number(size);
  }

  #zigzag(): bigint {
    const value = this.#varint();
    return (value >> 1n) ^ -(value & 1n);
  }

  #varint(): bigint {
    let low = 0;
    // The first bytes fit a number, which is much faster.
    for (let index = 0; index < 4; index++) {
      const byte = this.#byte();
      low += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return BigInt(low);
    }
    let value = BigInt(low);
    for (let index = 4; index < maxVarintBytes; index++) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return value;
    }
    throw corrupt('an integer longer than 64 bits');
  }

  #byte(): number {
    const byte = this.#bytes[this.#position];
    if (byte === undefined) throw corrupt('it ends too early');
    this.#position += 1;
    return byte;
  }

  #take(count: number): Uint8Array {
    if (count > this.#bytes.length - this.#position) throw corrupt('it ends too early');
    this.#position += count;
    return this.#bytes.subarray(this.#position - count, this.#position);
  }
}

class CompactWriter {
  readonly #parts: number[] = [];

  bytes(): Uint8Array {
    return Uint8Array.from(this.#parts);
  }

  struct(struct: ThriftStruct): void {
    this.fields(struct.fields, 0);
    this.#parts.push(0);
  }

  fields(fields: readonly ThriftField[], afterId: number): void {
    let lastId = afterId;
    for (const { id, type, value } of fields) {
      const code = typeof value === 'boolean' ? (value ? thriftType.true : thriftType.false) : type;
      this.fieldHeader(id, code, lastId);
      if (typeof value !== 'boolean') this.#value(code, value);
      lastId = id;
    }
  }

  fieldHeader(id: number, type: number, lastId: number): void {
    const step = id - lastId;
    if (step > 0 && step <= maxShortFieldStep) {
      this.#parts.push((step << 4) | type);
      return;
    }
    this.#parts.push(type);
    this.#zigzag(BigInt(id));
  }

  listHeader(elementType: number, size: number): void {
    if (size < longListMark) {
      this.#parts.push((size << 4) | elementType);
      return;
    }
    this.#parts.push((longListMark << 4) | elementType);
    this.#varint(BigInt(size));
  }

  #value(type: number, value: ThriftValue): void {
    if (typeof value === 'bigint') this.#zigzag(value);
    else if (value instanceof Uint8Array) {
      if (type === thriftType.binary) this.#varint(BigInt(value.length));
      for (const byte of value) this.#parts.push(byte);
    } else if (typeof value === 'boolean') this.#parts.push(value ? thriftType.true : thriftType.false);
    else if (value.kind === 'struct') this.struct(value);
    else {
      this.listHeader(value.elementType, value.items.length);
      for (const item of value.items) this.#value(value.elementType, item);
    }
  }

  #zigzag(value: bigint): void {
    this.#varint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  }

  #varint(value: bigint): void {
    let rest = value;
    while (rest > 0x7fn) {
      this.#parts.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.#parts.push(Number(rest));
  }
}

function corrupt(detail: string): ServiceError {
  return serviceError.corrupt('PARQUET_CORRUPT', `the parquet footer cannot be read: ${detail}`);
}
