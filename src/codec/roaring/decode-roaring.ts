import {
  bitmapBytes,
  bitmapCorrupt,
  containerValues,
  maxArrayValues,
  minContainersWithOffsets,
  plainCookie,
  runCookie,
} from './roaring-format.ts';

/** Positions one bitmap may hold: two gigabytes of them. */
const maxPositions = 2 ** 28;
/** Positions are row numbers; no file has 2^63 of them. */
const maxHighKey = 0x7fff_ffff;

/** Where one container lies, as the headers say; checked against the bytes before anything is allocated for its values. */
interface Container {
  readonly kind: 'array' | 'bitmap' | 'run';
  readonly high: number;
  readonly key: number;
  readonly cardinality: number;
  /** Of the values; for runs, of the number of runs. */
  readonly offset: number;
}

/** What the headers of a bitmap say, before anything is allocated for its positions. */
export interface BitmapHeaders {
  readonly positions: number;
  /** No position is less than this in the last container that has any; -1 for none. */
  readonly lastFrom: number;
}

/**
 * The ascending positions of a 64-bit bitmap in the portable format: the number of 32-bit bitmaps, then each with its upper half in
 * front. Bytes behind the last bitmap are not looked at; the memory taken is in proportion to the number of positions, which `check` may
 * refuse by throwing.
 *
 * @throws ServiceError `ROARING_BITMAP_CORRUPT` (corrupt) for bytes that are cut, out of order or contradict their own headers, and for
 * bitmaps of more than 2^28 positions.
 */
export function decodeRoaring64(bytes: Uint8Array, check?: (headers: BitmapHeaders) => void): BigInt64Array {
  const reader = new Reader(bytes);
  const bitmaps = reader.u64();
  const containers: Container[] = [];
  let last = -1;
  for (let index = 0; index < bitmaps; index += 1) {
    const high = reader.u32();
    if (high <= last || high > maxHighKey) throw bitmapCorrupt(`key ${high} does not follow ${last}`);
    last = high;
    readContainers(reader, high, containers);
  }
  const total = containers.reduce((sum, container) => sum + container.cardinality, 0);
  const final = containers.at(-1);
  check?.({ positions: total, lastFrom: final === undefined ? -1 : final.high * 2 ** 32 + final.key * containerValues });
  if (total > maxPositions) throw bitmapCorrupt(`${total} positions, at most ${maxPositions} are read`);
  const positions = new BigInt64Array(total);
  const words = new Uint32Array(positions.buffer);
  let at = 0;
  for (const container of containers) at = fill(reader, container, words, at);
  return positions;
}

/** The headers of one 32-bit bitmap; leaves the reader behind its last container. */
function readContainers(reader: Reader, high: number, into: Container[]): void {
  const cookie = reader.u32();
  const withRuns = (cookie & 0xffff) === runCookie;
  if (!withRuns && cookie !== plainCookie) throw bitmapCorrupt(`first word ${cookie} is unknown`);
  const count = withRuns ? (cookie >>> 16) + 1 : reader.u32();
  if (count > containerValues) throw bitmapCorrupt(`${count} containers`);
  const flags = withRuns ? reader.skip(Math.ceil(count / 8)) : -1;
  const headers = reader.skip(count * 4);
  if (!withRuns || count >= minContainersWithOffsets) reader.skip(count * 4);
  let lastKey = -1;
  for (let index = 0; index < count; index += 1) {
    const key = reader.u16At(headers + index * 4);
    const cardinality = reader.u16At(headers + index * 4 + 2) + 1;
    if (key <= lastKey) throw bitmapCorrupt(`container ${key} does not follow ${lastKey}`);
    lastKey = key;
    const isRun = flags >= 0 && ((reader.u8At(flags + (index >> 3)) >> (index & 7)) & 1) === 1;
    const kind = isRun ? 'run' : cardinality > maxArrayValues ? 'bitmap' : 'array';
    const offset = reader.offset;
    if (kind === 'array') reader.skip(cardinality * 2);
    else if (kind === 'bitmap') reader.skip(bitmapBytes);
    else reader.skip(reader.u16() * 4);
    into.push({ kind, high, key, cardinality, offset });
  }
}

function fill(reader: Reader, container: Container, words: Uint32Array, at: number): number {
  switch (container.kind) {
    case 'array':
      return fillArray(reader, container, words, at);
    case 'bitmap':
      return fillBitmap(reader, container, words, at);
    case 'run':
      return fillRuns(reader, container, words, at);
  }
}

function fillArray(reader: Reader, container: Container, words: Uint32Array, at: number): number {
  const base = container.key * containerValues;
  let last = -1;
  for (let index = 0; index < container.cardinality; index += 1) {
    const value = reader.u16At(container.offset + index * 2);
    if (value <= last) throw bitmapCorrupt(`value ${value} does not follow ${last}`);
    last = value;
    words[2 * (at + index)] = base + value;
    words[2 * (at + index) + 1] = container.high;
  }
  return at + container.cardinality;
}

function fillBitmap(reader: Reader, container: Container, words: Uint32Array, at: number): number {
  const base = container.key * containerValues;
  const end = at + container.cardinality;
  let next = at;
  for (let index = 0; index < bitmapBytes; index += 1) {
    for (let byte = reader.u8At(container.offset + index); byte !== 0; byte &= byte - 1) {
      if (next >= end) throw bitmapCorrupt(`a container has more than its ${container.cardinality} values`);
      words[2 * next] = base + index * 8 + 31 - Math.clz32(byte & -byte);
      words[2 * next + 1] = container.high;
      next += 1;
    }
  }
  if (next !== end) throw bitmapCorrupt(`a container has ${next - at} values instead of ${container.cardinality}`);
  return end;
}

function fillRuns(reader: Reader, container: Container, words: Uint32Array, at: number): number {
  const base = container.key * containerValues;
  const end = at + container.cardinality;
  const runs = reader.u16At(container.offset);
  let next = at;
  let last = -1;
  for (let run = 0; run < runs; run += 1) {
    const start = reader.u16At(container.offset + 2 + run * 4);
    const until = start + reader.u16At(container.offset + 4 + run * 4) + 1;
    if (start <= last || until > containerValues) throw bitmapCorrupt(`run ${start} to ${until} does not follow ${last}`);
    last = until - 1;
    if (next + until - start > end) throw bitmapCorrupt(`a container has more than its ${container.cardinality} values`);
    for (let value = start; value < until; value += 1) {
      words[2 * next] = base + value;
      words[2 * next + 1] = container.high;
      next += 1;
    }
  }
  if (next !== end) throw bitmapCorrupt(`a container has ${next - at} values instead of ${container.cardinality}`);
  return end;
}

/** Little-endian reads with a check of the end. */
class Reader {
  readonly #view: DataView;
  offset = 0;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u64(): number {
    const low = this.u32();
    const high = this.u32();
    // A bitmap takes bytes, so no real count is anywhere near this.
    if (high !== 0) throw bitmapCorrupt('the number of bitmaps is impossible');
    return low;
  }

  u32(): number {
    return this.#view.getUint32(this.skip(4), true);
  }

  u16(): number {
    return this.#view.getUint16(this.skip(2), true);
  }

  u16At(offset: number): number {
    return this.#view.getUint16(offset, true);
  }

  u8At(offset: number): number {
    return this.#view.getUint8(offset);
  }

  /** Steps over bytes that must be there; gives where they start. */
  skip(length: number): number {
    const start = this.offset;
    if (start + length > this.#view.byteLength) throw bitmapCorrupt(`cut at byte ${this.#view.byteLength}`);
    this.offset = start + length;
    return start;
  }
}
