import { describe, expect, it } from 'vitest';
import { withBlobProperties } from '../../../../src/codec/puffin/puffin-footer.ts';
import { writePuffin } from '../../../../src/codec/puffin/write-puffin.ts';
import { readPuffinBlob, readPuffinFooter } from '../../../support/puffin/read-puffin.ts';

const blob = (content: string, properties?: Readonly<Record<string, string>>) => ({
  type: 'kind',
  fields: [1],
  snapshotId: -1n,
  sequenceNumber: -1n,
  content: Buffer.from(content),
  properties,
});
const { bytes } = writePuffin([blob('one', { path: '/a', other: 'x' }), blob('three')], { 'created-by': 'test' });
const changed = (file: Uint8Array): Uint8Array =>
  withBlobProperties(file, 'f.puffin', (properties) => ({ ...properties, path: '/somewhere/much/longer' }));

describe('withBlobProperties', () => {
  it('changes the footer and leaves the blobs where they are', () => {
    const [before, after] = [readPuffinFooter(bytes, 'before'), readPuffinFooter(changed(bytes), 'after')];
    expect(after.properties).toEqual(before.properties);
    expect(after.blobs).toEqual([
      { ...before.blobs[0], properties: { path: '/somewhere/much/longer', other: 'x' } },
      // A blob without properties has none to change.
      before.blobs[1],
    ]);
    expect(after.blobs.map((one) => Buffer.from(readPuffinBlob(changed(bytes), one, 'after')).toString())).toEqual(['one', 'three']);
  });

  it('refuses what is no Puffin file, and a packed footer', () => {
    const corrupt: unknown = expect.objectContaining({
      code: 'PUFFIN_CORRUPT',
      kind: 'corrupt',
      message: expect.stringContaining('f.puffin') as string,
    });
    for (const file of [new Uint8Array(0), new Uint8Array(64), bytes.subarray(0, -1), bytes.subarray(9)])
      expect(() => changed(file)).toThrow(corrupt);
    const packed = Uint8Array.from(bytes);
    packed[packed.length - 8] = 1;
    expect(() => changed(packed)).toThrow(expect.objectContaining({ code: 'PUFFIN_UNSUPPORTED', kind: 'unsupported' }));
    const long = Uint8Array.from(bytes);
    long[long.length - 12] = 255;
    expect(() => changed(long)).toThrow(corrupt);
  });
});
