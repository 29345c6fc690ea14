import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../../../../src/base/bigint-json.ts';
import { compress } from '../../../../src/codec/compression.ts';
import { decodeDeletionVector, encodeDeletionVector } from '../../../../src/codec/puffin/deletion-vector-blob.ts';
import { puffinBlobToJson } from '../../../../src/codec/puffin/puffin-format.ts';
import { writePuffin } from '../../../../src/codec/puffin/write-puffin.ts';
import { bytesOf, fileVector, textOf, vectorsOf } from '../../../support/iceberg-vectors.ts';
import { unpackLz4Frame } from '../../../support/puffin/lz4-frame.ts';
import { readPuffinBlob, readPuffinFooter } from '../../../support/puffin/read-puffin.ts';

const members = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]).filter(isJsonObject) : [];
const named = (vectors: readonly JsonObject[]) => vectors.map((vector) => [textOf(vector, 'name'), vector] as const);

describe('Puffin files of other implementations', () => {
  it.each(named(vectorsOf('puffin')))('%s', (name, vector) => {
    const bytes = bytesOf(vector);
    if (vector['valid'] !== true) {
      expect(() => readPuffinFooter(bytes, name)).toThrow(expect.objectContaining({ code: 'PUFFIN_FILE_CORRUPT', kind: 'corrupt' }));
      return;
    }
    const footer = readPuffinFooter(bytes, name);
    const json = parseJson(printJson({ blobs: footer.blobs.map(puffinBlobToJson), properties: footer.properties }), name);
    expect(json).toEqual(vector['footer']);
    for (const [index, blob] of footer.blobs.entries()) {
      const content = readPuffinBlob(bytes, blob, name);
      const expected = members(vector['blobs'])[index];
      expect(content.byteLength).toBe(expected?.['length']);
      expect(createHash('sha256').update(content).digest('hex')).toBe(expected?.['sha256']);
      if (expected?.['positions'] !== undefined)
        expect([...decodeDeletionVector(content, name)].map(Number)).toEqual(expected['positions']);
    }
  });
});

describe('deletion vectors of other implementations', () => {
  it.each(named(vectorsOf('dv-blobs')))('%s', (name, vector) => {
    const bytes = bytesOf(vector);
    if (vector['valid'] !== true) {
      expect(() => decodeDeletionVector(bytes, name)).toThrow(
        expect.objectContaining({ code: 'DELETION_VECTOR_CORRUPT', kind: 'corrupt' }),
      );
      return;
    }
    const positions = decodeDeletionVector(bytes, name);
    expect(positions.length).toBe(vector['cardinality']);
    if (vector['positions'] !== undefined) expect([...positions].map(Number)).toEqual(vector['positions']);
    else expect([Number(positions[0]), Number(positions.at(-1))]).toEqual([vector['min'], vector['max']]);
    expect(decodeDeletionVector(encodeDeletionVector(positions), name)).toEqual(positions);
  });

  it('come back as they were written, and every changed byte is found', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.bigInt({ min: 0n, max: 2n ** 40n }), { maxLength: 30 }), fc.nat(), (some, at) => {
        const positions = BigInt64Array.from(some.toSorted((a, b) => Number(a - b)));
        const blob = encodeDeletionVector(positions);
        expect(decodeDeletionVector(blob, 'v')).toEqual(positions);
        const place = at % blob.byteLength;
        blob[place] = (blob[place] ?? 0) ^ 1;
        expect(() => decodeDeletionVector(blob, 'v')).toThrow('deletion vector v');
        expect(() => decodeDeletionVector(blob.subarray(0, place), 'v')).toThrow('deletion vector v');
      }),
      { seed: 99 },
    );
  });
});

describe('Puffin files', () => {
  const contents = [
    {
      type: 'deletion-vector-v1',
      fields: [2_147_483_645],
      snapshotId: -1n,
      sequenceNumber: -1n,
      content: encodeDeletionVector(BigInt64Array.of(1n, 5n)),
    },
    { type: 'any', fields: [], snapshotId: 2n ** 62n, sequenceNumber: 3n, content: new Uint8Array(), properties: { ndv: '7' } },
  ];

  it('come back as they were written', () => {
    const { bytes, blobs, footerSizeBytes } = writePuffin(contents, { 'created-by': 'test' });
    expect(readPuffinFooter(bytes, 'f')).toEqual({ blobs, properties: { 'created-by': 'test' } });
    expect(blobs.map((blob) => Buffer.from(readPuffinBlob(bytes, blob, 'f')))).toEqual(contents.map(({ content }) => Buffer.from(content)));
    expect(bytes.byteLength).toBe((blobs.at(-1)?.offset ?? 0) + footerSizeBytes);
  });

  it('are never read past their ends', () => {
    const { bytes } = writePuffin(contents, {});
    for (let end = 0; end < bytes.byteLength; end++) {
      expect(() => readPuffinFooter(bytes.subarray(0, end), 'f')).toThrow(expect.objectContaining({ code: 'PUFFIN_FILE_CORRUPT' }));
    }
  });

  it.each<[string, JsonValue, string]>([
    [
      'a blob behind the blobs',
      { blobs: [{ type: 'a', fields: [], 'snapshot-id': 1, 'sequence-number': 1, offset: 4, length: 99 }] },
      'lies outside',
    ],
    ['no blobs', {}, 'no list of blobs'],
    ['a codec nobody knows', { blobs: [{ type: 'a', fields: [], offset: 4, length: 0, 'compression-codec': 'xz' }] }, 'unknown codec'],
    ['properties that are no text', { blobs: [], properties: { a: 1 } }, 'the property a is no text'],
  ])('with %s are refused', (_, footer, message) => {
    expect(() => readPuffinFooter(fileWith(Buffer.from(printJson(footer)), 0), 'f')).toThrow(message);
  });

  it('with a packed footer are read', async () => {
    const payload = Buffer.from(printJson({ blobs: [], properties: { a: 'b'.repeat(200) } }));
    const frame = lz4Frame(await compress('lz4', payload));
    expect(readPuffinFooter(fileWith(frame, 1), 'f').properties).toEqual({ a: 'b'.repeat(200) });
    expect(unpackLz4Frame(frame.subarray(0, frame.byteLength - 4), 1000)).toBeUndefined();
    expect(() => unpackLz4Frame(frame, 10)).toThrow(expect.objectContaining({ code: 'CODEC_BLOCK_TOO_LARGE' }));
    expect(() => readPuffinFooter(fileWith(payload, 1), 'f')).toThrow('no LZ4 frame');
    expect(() => readPuffinFooter(fileWith(payload, 2), 'f')).toThrow('unknown flags 2');
  });

  it('whose packed blob is damaged are refused by name', () => {
    const bytes = fileVector('puffin', 'sample-metric-data-compressed-zstd.bin');
    const [blob] = readPuffinFooter(bytes, 'f').blobs;
    if (blob === undefined) throw new TypeError('no blob');
    bytes.fill(0, blob.offset, blob.offset + blob.length);
    expect(() => readPuffinBlob(bytes, blob, 'f')).toThrow(expect.objectContaining({ code: 'PUFFIN_FILE_CORRUPT' }));
  });
});

function fileWith(footer: Uint8Array, flags: number): Uint8Array {
  const magic = Buffer.from('PFA1');
  const tail = Buffer.alloc(8);
  tail.writeInt32LE(footer.byteLength);
  tail[4] = flags;
  return Buffer.concat([magic, magic, footer, tail, magic]);
}

/** A frame of one block, without checksums; the header's own is not looked at. */
function lz4Frame(block: Uint8Array): Uint8Array {
  const head = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, crc32('') & 0xff]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(block.byteLength);
  return Buffer.concat([head, size, block, Buffer.alloc(4)]);
}
