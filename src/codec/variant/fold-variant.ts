import { type ServiceError, serviceError } from '../../base/errors.ts';
import { formatDecimal } from '../../schema/decimal-text.ts';
import { uuidText } from '../uuid-text.ts';

/** A variant as columns hold it: a dictionary of member names, and the value that refers to it by number. */
export interface VariantBytes {
  readonly metadata: Uint8Array;
  readonly value: Uint8Array;
}

/** What the parts of a variant become. Integers of all widths are one kind, as are both widths of floating numbers. */
export interface VariantFold<Result> {
  readonly nothing: () => Result;
  readonly boolean: (value: boolean) => Result;
  readonly integer: (value: bigint) => Result;
  readonly floating: (value: number, width: 'float' | 'double') => Result;
  /** With all digits of its scale. */
  readonly decimal: (text: string) => Result;
  /** Also of UUIDs. */
  readonly text: (value: string) => Result;
  readonly binary: (value: Uint8Array) => Result;
  /** Days since 1970. */
  readonly date: (days: number) => Result;
  /** Units since 1970, of a day for `time`. */
  readonly instant: (kind: InstantKind, units: bigint) => Result;
  readonly list: (elements: readonly Result[]) => Result;
  /** Members in the order of their names. */
  readonly object: (members: readonly (readonly [name: string, value: Result])[]) => Result;
}

export type InstantKind = 'timestamp' | 'timestamp_ntz' | 'timestamp_ns' | 'timestamp_ntz_ns' | 'time';

/** A part of a variant's value, not yet looked into. */
export interface VariantPart {
  readonly bytes: VariantBytes;
  readonly at: number;
}

/** Values nest at most this deep; deeper ones are damaged or hostile. */
const maxDepth = 1000;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Folds a variant from its leaves up (https://github.com/apache/parquet-format/blob/master/VariantEncoding.md).
 *
 * @throws ServiceError `VARIANT_CORRUPT` (kind corrupt) for bytes that are no variant.
 */
export function foldVariant<Result>(bytes: VariantBytes, fold: VariantFold<Result>): Result {
  return foldPart({ bytes, at: 0 }, fold, 0);
}

export function foldPart<Result>(part: VariantPart, fold: VariantFold<Result>, depth: number = 0): Result {
  if (depth > maxDepth) throw corrupt(`it is nested deeper than ${maxDepth}`);
  const elements = elementsOf(part);
  if (elements !== undefined) return fold.list(elements.map((element) => foldPart(element, fold, depth + 1)));
  const members = membersOf(part);
  if (members !== undefined) return fold.object(members.map(([name, member]) => [name, foldPart(member, fold, depth + 1)] as const));
  return scalarOf(part, fold);
}

/** The elements of a list; `undefined`: it is none. */
export function elementsOf({ bytes, at }: VariantPart): readonly VariantPart[] | undefined {
  const header = byteAt(bytes.value, at);
  if ((header & 3) !== 3) return undefined;
  const offsetSize = ((header >> 2) & 3) + 1;
  const countSize = (header & 0x10) === 0 ? 1 : 4;
  const count = unsigned(bytes.value, at + 1, countSize);
  const offsets = at + 1 + countSize;
  const data = offsets + (count + 1) * offsetSize;
  if (data > bytes.value.length) throw corrupt('a list is cut');
  return Array.from({ length: count }, (_, index) => ({
    bytes,
    at: data + unsigned(bytes.value, offsets + index * offsetSize, offsetSize),
  }));
}

/** The members of an object by name; `undefined`: it is none. */
export function membersOf({ bytes, at }: VariantPart): readonly (readonly [name: string, value: VariantPart])[] | undefined {
  const header = byteAt(bytes.value, at);
  if ((header & 3) !== 2) return undefined;
  const offsetSize = ((header >> 2) & 3) + 1;
  const idSize = ((header >> 4) & 3) + 1;
  const countSize = (header & 0x40) === 0 ? 1 : 4;
  const count = unsigned(bytes.value, at + 1, countSize);
  const ids = at + 1 + countSize;
  const offsets = ids + count * idSize;
  const data = offsets + (count + 1) * offsetSize;
  if (data > bytes.value.length) throw corrupt('an object is cut');
  return Array.from({ length: count }, (_, index) => {
    const name = nameOf(bytes.metadata, unsigned(bytes.value, ids + index * idSize, idSize));
    return [name, { bytes, at: data + unsigned(bytes.value, offsets + index * offsetSize, offsetSize) }] as const;
  });
}

function scalarOf<Result>({ bytes: { value }, at }: VariantPart, fold: VariantFold<Result>): Result {
  const header = byteAt(value, at);
  const from = at + 1;
  if ((header & 3) === 1) return fold.text(textAt(value, from, header >> 2));
  const kind = header >> 2;
  switch (kind) {
    case 0:
      return fold.nothing();
    case 1:
    case 2:
      return fold.boolean(kind === 1);
    case 3:
    case 4:
    case 5:
    case 6:
      return fold.integer(signed(value, from, 2 ** (kind - 3)));
    case 7:
      return fold.floating(snapshotStateOf(value, from, 8).getFloat64(0, true), 'double');
    case 8:
    case 9:
    case 10:
      return fold.decimal(formatDecimal(signed(value, from + 1, 4 * 2 ** (kind - 8)), byteAt(value, from)));
    case 11:
      return fold.date(Number(signed(value, from, 4)));
    case 14:
      return fold.floating(snapshotStateOf(value, from, 4).getFloat32(0, true), 'float');
    case 15:
      return fold.binary(bytesAt(value, from + 4, unsigned(value, from, 4)).slice());
    case 16:
      return fold.text(textAt(value, from + 4, unsigned(value, from, 4)));
    case 20:
      return fold.text(decoder.decode(uuidText(bytesAt(value, from, 16))));
    default: {
      const instant = instants.get(kind);
      if (instant === undefined) throw corrupt(`a value has type ${kind}, which is none`);
      return fold.instant(instant, signed(value, from, 8));
    }
  }
}

const instants: ReadonlyMap<number, InstantKind> = new Map<number, InstantKind>([
  [12, 'timestamp'],
  [13, 'timestamp_ntz'],
  [17, 'time'],
  [18, 'timestamp_ns'],
  [19, 'timestamp_ntz_ns'],
]);

function nameOf(metadata: Uint8Array, id: number): string {
  const header = byteAt(metadata, 0);
  if ((header & 0x0f) !== 1) throw corrupt(`its dictionary has version ${header & 0x0f}, which is not known`);
  const size = (header >> 6) + 1;
  const count = unsigned(metadata, 1, size);
  if (id >= count) throw corrupt(`a member has name ${id} of ${count}`);
  const offset = (index: number): number => unsigned(metadata, 1 + size * (1 + index), size);
  const from = offset(id);
  return textAt(metadata, 1 + size * (2 + count) + from, offset(id + 1) - from);
}

function textAt(bytes: Uint8Array, from: number, length: number): string {
  try {
    return decoder.decode(bytesAt(bytes, from, length));
  } catch (cause) {
    throw corrupt('a text is not UTF-8', cause);
  }
}

function bytesAt(bytes: Uint8Array, from: number, length: number): Uint8Array {
  if (length < 0 || from + length > bytes.length) throw corrupt('a value is cut');
  return bytes.subarray(from, from + length);
}

function byteAt(bytes: Uint8Array, at: number): number {
  return bytesAt(bytes, at, 1)[0] ?? 0;
}

function snapshotStateOf(bytes: Uint8Array, from: number, length: number): DataView {
  const view = bytesAt(bytes, from, length);
  return new DataView(view.buffer, view.byteOffset, length);
}

function unsigned(bytes: Uint8Array, from: number, size: number): number {
  return bytesAt(bytes, from, size).reduceRight((sum, byte) => sum * 256 + byte, 0);
}

function signed(bytes: Uint8Array, from: number, size: number): bigint {
  const bits = bytesAt(bytes, from, size).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return BigInt.asIntN(8 * size, bits);
}

function corrupt(detail: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('VARIANT_CORRUPT', `a variant cannot be read: ${detail}`, { cause });
}
