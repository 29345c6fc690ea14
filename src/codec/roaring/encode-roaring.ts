import { assert } from '../../base/assert.ts';
import { bitmapBytes, containerValues, maxArrayValues, minContainersWithOffsets, plainCookie, runCookie } from './roaring-format.ts';

interface Container {
  readonly key: number;
  /** Range of the positions it holds. */
  readonly from: number;
  readonly until: number;
  readonly runs: number;
}

/** A 64-bit bitmap of ascending, distinct positions from 0 on, in the portable format; each container in its smallest form. */
export function encodeRoaring64(positions: BigInt64Array): Uint8Array {
  // Lower halves at even places, upper halves at odd ones.
  const words = new Uint32Array(positions.buffer, positions.byteOffset, positions.length * 2);
  const bitmaps = bitmapsOf(words);
  const size = bitmaps.reduce((sum, bitmap) => sum + 4 + sizeOf(bitmap.containers), 8);
  const writer = new Writer(size);
  writer.u32(bitmaps.length);
  writer.u32(0);
  for (const bitmap of bitmaps) {
    writer.u32(bitmap.high);
    writeBitmap(writer, bitmap.containers, words);
  }
  assert(writer.offset === size, `a bitmap of ${size} bytes took ${writer.offset}`);
  return writer.bytes;
}

interface Bitmap {
  readonly high: number;
  readonly containers: readonly Container[];
}

function bitmapsOf(words: Uint32Array): readonly Bitmap[] {
  const bitmaps: Bitmap[] = [];
  let containers: Container[] = [];
  let last: { readonly high: number; readonly low: number } | undefined;
  let from = 0;
  let runs = 0;
  const count = words.length / 2;
  for (let index = 0; index < count; index += 1) {
    const low = words[2 * index] ?? 0;
    const high = words[2 * index + 1] ?? 0;
    assert(high <= 0x7fff_ffff, 'positions are not negative');
    if (last !== undefined) assert(high > last.high || (high === last.high && low > last.low), 'positions ascend');
    if (last !== undefined && (high !== last.high || low >>> 16 !== last.low >>> 16)) {
      containers.push({ key: last.low >>> 16, from, until: index, runs });
      from = index;
      runs = 0;
      if (high !== last.high) {
        bitmaps.push({ high: last.high, containers });
        containers = [];
      }
    }
    if (runs === 0 || last === undefined || low !== last.low + 1) runs += 1;
    last = { high, low };
  }
  if (last === undefined) return bitmaps;
  containers.push({ key: last.low >>> 16, from, until: count, runs });
  bitmaps.push({ high: last.high, containers });
  return bitmaps;
}

function kindOf(container: Container): 'array' | 'bitmap' | 'run' {
  const values = container.until - container.from;
  const plainSize = values > maxArrayValues ? bitmapBytes : values * 2;
  if (2 + container.runs * 4 < plainSize) return 'run';
  return values > maxArrayValues ? 'bitmap' : 'array';
}

function sizeOfValues(container: Container): number {
  switch (kindOf(container)) {
    case 'array':
      return (container.until - container.from) * 2;
    case 'bitmap':
      return bitmapBytes;
    case 'run':
      return 2 + container.runs * 4;
  }
}

function sizeOfHeaders(containers: readonly Container[]): number {
  const count = containers.length;
  if (!hasRuns(containers)) return 8 + count * 8;
  return 4 + Math.ceil(count / 8) + count * (count >= minContainersWithOffsets ? 8 : 4);
}

function sizeOf(containers: readonly Container[]): number {
  return containers.reduce((sum, container) => sum + sizeOfValues(container), sizeOfHeaders(containers));
}

function hasRuns(containers: readonly Container[]): boolean {
  return containers.some((container) => kindOf(container) === 'run');
}

function writeBitmap(writer: Writer, containers: readonly Container[], words: Uint32Array): void {
  const count = containers.length;
  const withRuns = hasRuns(containers);
  if (withRuns) {
    writer.u32(runCookie + (count - 1) * 0x1_0000);
    const flags = new Uint8Array(Math.ceil(count / 8));
    for (const [index, container] of containers.entries()) {
      if (kindOf(container) === 'run') flags[index >> 3] = (flags[index >> 3] ?? 0) | (1 << (index & 7));
    }
    writer.put(flags);
  } else {
    writer.u32(plainCookie);
    writer.u32(count);
  }
  for (const container of containers) {
    writer.u16(container.key);
    writer.u16(container.until - container.from - 1);
  }
  if (!withRuns || count >= minContainersWithOffsets) {
    let offset = sizeOfHeaders(containers);
    for (const container of containers) {
      writer.u32(offset);
      offset += sizeOfValues(container);
    }
  }
  for (const container of containers) writeValues(writer, container, words);
}

function writeValues(writer: Writer, container: Container, words: Uint32Array): void {
  const valueAt = (index: number): number => (words[2 * index] ?? 0) % containerValues;
  const { from, until } = container;
  switch (kindOf(container)) {
    case 'array':
      for (let index = from; index < until; index += 1) writer.u16(valueAt(index));
      return;
    case 'bitmap': {
      const bits = new Uint8Array(bitmapBytes);
      for (let index = from; index < until; index += 1) {
        const value = valueAt(index);
        bits[value >> 3] = (bits[value >> 3] ?? 0) | (1 << (value & 7));
      }
      writer.put(bits);
      return;
    }
    case 'run':
      writer.u16(container.runs);
      for (let start = from; start < until; ) {
        let end = start + 1;
        while (end < until && valueAt(end) === valueAt(start) + end - start) end += 1;
        writer.u16(valueAt(start));
        writer.u16(end - start - 1);
        start = end;
      }
  }
}

/** Little-endian writes into bytes of a known size. */
class Writer {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  offset = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
    this.#view = new DataView(this.bytes.buffer);
  }

  u32(value: number): void {
    this.#view.setUint32(this.offset, value, true);
    this.offset += 4;
  }

  u16(value: number): void {
    this.#view.setUint16(this.offset, value, true);
    this.offset += 2;
  }

  put(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.offset);
    this.offset += bytes.byteLength;
  }
}
