import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ThetaSketch } from '../../../../src/codec/theta/theta-sketch.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Of texts of 2 to 43 bytes: every length of a hash's last block. */
function ofTexts(count: number): ThetaSketch {
  const sketch = new ThetaSketch();
  for (let index = 0; index < count; index += 1) sketch.add(Buffer.from(`v${index}${'x'.repeat(index % 40)}`));
  return sketch;
}

describe('theta sketches', () => {
  // Bytes that the library datasketches 5.2.0 (C++) makes of the same texts.
  it.each([
    [2, '7d8f184b0816262e7e85151e174f9dd855688715aa3f09bc0f55e348c4ad2f2d'],
    [17, '3b20527c579a30a1a595f808adee08bcf849e0d51806df8f401d3ee2f7fa513d'],
    [4096, '480a120beedf78b072b09dbb73621476d0d1450b22ba1c25ac85b3838c6b8fd5'],
  ])('of %i values are those of other implementations', (count, expected) => {
    const { bytes, estimate } = ofTexts(count).compact();
    expect(estimate).toBe(count);
    // There it does not say that all values were looked at.
    new DataView(bytes.buffer).setFloat32(12, 0, true);
    expect(sha(bytes)).toBe(expected);
  });

  // The library in Java has a flag for the single value, and no seed for the empty sketch.
  it('of nothing and of one value are short', () => {
    expect(hex(new ThetaSketch().compact().bytes)).toBe('01030300001e0000');
    expect(hex(ofTexts(1).compact().bytes)).toBe('01030300003acc93ad50444f08f3f163');
    const sketch = new ThetaSketch();
    sketch.add(new Uint8Array(0));
    expect(sketch.compact()).toEqual(new ThetaSketch().compact());
  });

  it('take no notice of a value that comes again, nor of the order of few', () => {
    const sketch = new ThetaSketch();
    for (let index = 0; index < 10_000; index += 1) sketch.add(Buffer.from(String((index * 7919) % 3000)));
    const other = new ThetaSketch();
    for (let index = 2999; index >= 0; index -= 1) other.add(Buffer.from(String(index)));
    expect(sketch.compact()).toEqual(other.compact());
    expect(sketch.compact().estimate).toBe(3000);
  });

  it.each([5_000, 100_000, 500_000])('estimate %i values in bounded memory', (count) => {
    const sketch = new ThetaSketch();
    const value = new Uint8Array(8);
    const view = new DataView(value.buffer);
    for (let index = 0; index < count; index += 1) {
      view.setBigInt64(0, BigInt(index), true);
      sketch.add(value);
    }
    const { bytes, estimate } = sketch.compact();
    expect(Math.abs(estimate / count - 1)).toBeLessThan(0.06);
    expect(bytes.byteLength).toBeLessThanOrEqual(24 + 8 * 4096);
  });
});
