import { describe, expect, it } from 'vitest';
import { isServiceError } from '../../../../src/base/errors.ts';
import { randomInt } from '../../../../src/base/random.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { readOrcFile, readOrcRows } from '../../../../src/codec/orc/read/read-orc.ts';
import { goldenSchema } from './expected-rows.ts';
import { goldenBytes } from './golden-files.ts';

const refusals = /^(none|ORC_FILE_CORRUPT|ORC_FEATURE_UNSUPPORTED|ORC_TYPE_MISMATCH)$/;

/** The code of the error that reading ends with, `none` when all rows come; what is not ours is thrown. */
function outcome(bytes: Uint8Array): string {
  try {
    let rows = 0;
    for (const batch of readOrcRows(readOrcFile(bytes, { name: 'hostile' }), { schema: goldenSchema })) {
      rows += batch.rowCount;
      if (rows > 1_000_000) return 'none';
    }
    return 'none';
  } catch (error) {
    if (!isServiceError(error)) throw error;
    expect(error.message).toContain('orc file "hostile"');
    return error.code;
  }
}

describe('a damaged ORC file', () => {
  it.each(['spark-iceberg-none', 'pyarrow-zlib'])('cut off anywhere is told as corrupt: %s', (name) => {
    const bytes = goldenBytes(name);
    for (let length = 0; length < bytes.length; length += length < 200 || length > bytes.length - 400 ? 1 : 29) {
      expect(outcome(bytes.subarray(0, length)), `${length} bytes`).toMatch(/^(ORC_FILE_CORRUPT|ORC_FEATURE_UNSUPPORTED)$/);
    }
  });

  it.each(['spark-iceberg-none', 'spark-iceberg-zstd', 'spark-native-0.11', 'pyarrow-uncompressed', 'pyarrow-snappy', 'pyarrow-lz4'])(
    'with flipped bits is refused or read, and never breaks the reader: %s',
    (name) => {
      const seed = Number(process.env['ORC_SEED'] ?? 20_260_101);
      const random = new SeededRandom(seed);
      const original = goldenBytes(name);
      for (let round = 0; round < Number(process.env['ORC_ROUNDS'] ?? 150); round++) {
        const bytes = original.slice();
        for (let flips = randomInt(random, 3); flips >= 0; flips--) {
          // Half of the damage goes to the end, where the structure is.
          const at =
            randomInt(random, 2) === 0
              ? randomInt(random, bytes.length)
              : bytes.length - 1 - randomInt(random, Math.min(bytes.length, 1200));
          bytes[at] = (bytes[at] ?? 0) ^ (1 << randomInt(random, 8));
        }
        expect(outcome(bytes), `seed ${seed} round ${round}`).toMatch(refusals);
      }
    },
  );
});
