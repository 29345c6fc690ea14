import type { ByteSource } from '../streams/byte-source.ts';
import { closestWidth, packedBytes, unpackBits, widthOfCode } from './bit-unpacking.ts';
import { addLong, type LongWords, longAt, readVarint, setLong, unzigzag } from './long-words.ts';

/** No run of version 2 is longer. */
export const maxRunLength = 512;

/** Reads one run of version 2 to the front of `run`, which has room for `maxRunLength` values, and returns its length. */
export function readRunV2(source: ByteSource, run: LongWords, signed: boolean): number {
  const first = source.byte();
  switch (first >> 6) {
    case 0:
      return shortRepeat(source, run, signed, first);
    case 1:
      return direct(source, run, signed, first);
    case 2:
      return patchedBase(source, run, first);
    default:
      return delta(source, run, signed, first);
  }
}

function runLength(source: ByteSource, first: number): number {
  return (((first & 1) << 8) | source.byte()) + 1;
}

function widthIn(first: number): number {
  return widthOfCode[(first >> 1) & 0x1f] ?? 64;
}

function shortRepeat(source: ByteSource, run: LongWords, signed: boolean, first: number): number {
  const width = ((first >> 3) & 7) + 1;
  const count = (first & 7) + 3;
  setLong(run, 0, bigEndian(source, width));
  if (signed) unzigzag(run, 0, 1);
  for (let index = 2; index < 2 * count; index++) run[index] = run[index & 1] ?? 0;
  return count;
}

function direct(source: ByteSource, run: LongWords, signed: boolean, first: number): number {
  const packed = { width: widthIn(first), count: runLength(source, first) };
  unpackBits(source.bytes, source.skip(packedBytes(packed.width, packed.count)), packed, run, 0);
  if (signed) unzigzag(run, 0, packed.count);
  return packed.count;
}

function patchedBase(source: ByteSource, run: LongWords, first: number): number {
  const width = widthIn(first);
  const count = runLength(source, first);
  const third = source.byte();
  const fourth = source.byte();
  const baseBytes = (third >> 5) + 1;
  const patchWidth = widthOfCode[third & 0x1f] ?? 64;
  const gapWidth = (fourth >> 5) + 1;
  const patchCount = fourth & 0x1f;
  const base = signAndMagnitude(bigEndian(source, baseBytes), baseBytes);
  unpackBits(source.bytes, source.skip(packedBytes(width, count)), { width, count }, run, 0);
  if (patchWidth + gapWidth > 64) throw source.corrupt(`a patch of ${patchWidth} bits with a gap of ${gapWidth} passes 64 bits`);
  const entries = { width: closestWidth(patchWidth + gapWidth), count: patchCount };
  const patches: LongWords = new Int32Array(2 * patchCount);
  unpackBits(source.bytes, source.skip(packedBytes(entries.width, patchCount)), entries, patches, 0);
  let at = 0;
  for (let index = 0; index < patchCount; index++) {
    const entry = BigInt.asUintN(64, longAt(patches, index));
    at += Number(BigInt.asUintN(gapWidth, entry >> BigInt(patchWidth)));
    const patch = BigInt.asUintN(patchWidth, entry);
    // A gap past 255 is spread over entries whose patch is zero.
    if (patch === 0n) continue;
    if (at >= count) throw source.corrupt(`a patch is for value ${at} of a run of ${count}`);
    setLong(run, at, BigInt.asIntN(64, longAt(run, at) | (patch << BigInt(width))));
  }
  const low = Number(BigInt.asIntN(32, base));
  const high = Number(BigInt.asIntN(32, base >> 32n));
  for (let index = 0; index < count; index++) addLong(run, index, index, low, high);
  return count;
}

function delta(source: ByteSource, run: LongWords, signed: boolean, first: number): number {
  const code = (first >> 1) & 0x1f;
  const count = runLength(source, first);
  readVarint(source, run, 0);
  if (signed) unzigzag(run, 0, 1);
  if (count === 1) {
    // The step is written though there is nothing to step to.
    readVarint(source, run, 1);
    return count;
  }
  readVarint(source, run, 1);
  unzigzag(run, 1, 2);
  const low = run[2] ?? 0;
  const high = run[3] ?? 0;
  addLong(run, 1, 0, low, high);
  if (code === 0) {
    for (let index = 2; index < count; index++) addLong(run, index, index - 1, low, high);
    return count;
  }
  const steps = { width: widthOfCode[code] ?? 64, count: count - 2 };
  unpackBits(source.bytes, source.skip(packedBytes(steps.width, steps.count)), steps, run, 2);
  if (high < 0) negate(run, 2, count);
  for (let index = 2; index < count; index++) addLong(run, index, index - 1, run[2 * index] ?? 0, run[2 * index + 1] ?? 0);
  return count;
}

function negate(words: LongWords, from: number, until: number): void {
  for (let at = 2 * from; at < 2 * until; at += 2) {
    const low = words[at] ?? 0;
    words[at] = -low | 0;
    words[at + 1] = low === 0 ? -(words[at + 1] ?? 0) | 0 : ~(words[at + 1] ?? 0);
  }
}

function bigEndian(source: ByteSource, count: number): bigint {
  let value = 0n;
  for (let index = 0; index < count; index++) value = (value << 8n) | BigInt(source.byte());
  return value;
}

/** The base of a patched run has its sign in the highest bit and the magnitude in the others. */
function signAndMagnitude(value: bigint, byteCount: number): bigint {
  const signBit = 1n << BigInt(8 * byteCount - 1);
  return (value & signBit) === 0n ? value : -(value & (signBit - 1n));
}
