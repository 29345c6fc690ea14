import { describe, expect, it } from 'vitest';
import { buildBatch, type InputValue } from '../../../../src/codec/build-columns.ts';
import { readMessage } from '../../../../src/codec/orc/proto/message-reader.ts';
import { parsePostScript } from '../../../../src/codec/orc/proto/tail.ts';
import { writeOrcFile } from '../../../../src/codec/orc/write/write-orc.ts';
import type { DataType, StructType } from '../../../../src/schema/types.ts';

type Fields = ReadonlyMap<number, readonly (number | Uint8Array)[]>;

/** All fields of a message by tag. */
function fieldsOf(bytes: Uint8Array): Fields {
  const fields = new Map<number, (number | Uint8Array)[]>();
  readMessage(bytes, 'test', (tag, field) => {
    const values = fields.get(tag) ?? [];
    fields.set(tag, values);
    let value: number | Uint8Array;
    try {
      value = field.integer();
    } catch {
      value = field.bytes();
    }
    values.push(value);
  });
  return fields;
}

function message(value: number | Uint8Array | undefined): Fields {
  return fieldsOf(value instanceof Uint8Array ? value : new Uint8Array(0));
}

/** ColumnStatistics of column 1 in the footer of an uncompressed file, and in each stripe. */
async function statisticsOf(
  type: DataType,
  values: readonly InputValue[],
): Promise<{ readonly file: Fields; readonly stripes: readonly Fields[] }> {
  const schema: StructType = { kind: 'struct', fields: [{ name: 'c', type, nullable: true }] };
  const batch = (part: readonly InputValue[]) =>
    buildBatch(
      schema,
      part.map((c) => ({ c })),
    );
  const half = Math.ceil(values.length / 2);
  const batches = [batch(values.slice(0, half)), batch(values.slice(half))];
  const { bytes } = await writeOrcFile(batches, { schema, compression: 'none', stripeBytes: 1, rowIndexStride: 2 });
  const length = bytes.at(-1) ?? 0;
  const { footerBytes, metadataBytes } = parsePostScript(bytes.subarray(-1 - length, -1), 'test');
  const footerAt = bytes.length - 1 - length - footerBytes;
  const footer = fieldsOf(bytes.subarray(footerAt, footerAt + footerBytes));
  const metadata = fieldsOf(bytes.subarray(footerAt - metadataBytes, footerAt));
  return {
    file: message(footer.get(7)?.[1]),
    stripes: (metadata.get(1) ?? []).map((stripe) => message(message(stripe).get(1)?.[1])),
  };
}

const text = (value: number | Uint8Array | undefined): string =>
  new TextDecoder().decode(value instanceof Uint8Array ? value : new Uint8Array(0));
const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);

describe('statistics of a written ORC file', () => {
  it('count values and tell nulls and bounds, for the file and each stripe', async () => {
    const { file, stripes } = await statisticsOf({ kind: 'integer' }, [5, null, -7, 3]);
    expect([file.get(1), file.get(10)]).toEqual([[3], [1]]);
    expect([message(file.get(2)?.[0]).get(1), message(file.get(2)?.[0]).get(2)]).toEqual([[zigzag(-7)], [zigzag(5)]]);
    expect(stripes.reduce((sum, stripe) => sum + Number(stripe.get(1)?.[0]), 0)).toBe(3);
    expect(stripes.length).toBe(4);
  });

  it('have bounds of texts in the order of their bytes', async () => {
    // U+FF5E sorts before U+1F600 in bytes and after it in UTF-16.
    const { file } = await statisticsOf({ kind: 'string' }, ['b', '\u{1f600}', '～', 'a']);
    const bounds = message(file.get(4)?.[0]);
    expect([text(bounds.get(1)?.[0]), text(bounds.get(2)?.[0])]).toEqual(['a', '\u{1f600}']);
  });

  it('cut long texts to a lower and an upper bound', async () => {
    const { file } = await statisticsOf({ kind: 'string' }, [`a${'ü'.repeat(1000)}`, `b${'\u{10ffff}'.repeat(500)}`]);
    const bounds = message(file.get(4)?.[0]);
    expect([bounds.get(1), bounds.get(2)]).toEqual([undefined, undefined]);
    expect(text(bounds.get(4)?.[0])).toBe(`a${'ü'.repeat(511)}`);
    expect(text(bounds.get(5)?.[0])).toBe('c');
  });

  it('have bounds of decimals as text', async () => {
    const { file } = await statisticsOf({ kind: 'decimal', precision: 30, scale: 2 }, ['-1.50', '99999999999999999999.25', null]);
    const bounds = message(file.get(6)?.[0]);
    expect([text(bounds.get(1)?.[0]), text(bounds.get(2)?.[0])]).toEqual(['-1.50', '99999999999999999999.25']);
  });

  it('have bounds of timestamps in milliseconds of UTC, with the nanoseconds after them', async () => {
    const { file } = await statisticsOf({ kind: 'timestamp' }, [-1n, 1_500n, 0n]);
    const bounds = message(file.get(9)?.[0]);
    expect([3, 4, 5, 6].map((tag) => bounds.get(tag)?.[0])).toEqual([zigzag(-1), zigzag(1), 999_001, 500_001]);
  });

  it('count what is true, and bytes', async () => {
    const booleans = await statisticsOf({ kind: 'boolean' }, [true, false, true, null]);
    expect(message(booleans.file.get(5)?.[0]).get(1)).toEqual([Uint8Array.of(2)]);
    const bytes = await statisticsOf({ kind: 'binary' }, [Uint8Array.of(1, 2), Uint8Array.of(3)]);
    expect(message(bytes.file.get(8)?.[0]).get(1)).toEqual([zigzag(3)]);
  });

  it('have no bounds without values', async () => {
    const { file } = await statisticsOf({ kind: 'long' }, [null, null]);
    expect([file.get(1), file.get(10), message(file.get(2)?.[0])]).toEqual([[0], [1], new Map()]);
  });
});
