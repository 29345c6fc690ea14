import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePath, encodePath } from '../../../src/delta/paths.ts';

const root = 'file:///warehouse/my%20table';

describe('paths of the log', () => {
  it('are percent-encoded once, so that an escaped directory is escaped twice', () => {
    expect(encodePath('letter=%2F%2520%25f/part 0.parquet')).toBe('letter=%252F%252520%2525f/part%200.parquet');
  });

  it('come back as they were, whatever they hold', () => {
    const segment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((text) => !text.includes('/'));
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
        const path = segments.join('/');
        expect(decodePath(encodePath(path), root)).toBe(path);
      }),
    );
  });

  it('are relative to the table however they are spelled', () => {
    expect(decodePath('file:///warehouse/my%20table/a%20b', root)).toBe('a b');
    expect(decodePath('file:/warehouse/my%20table/a', root)).toBe('a');
    expect(decodePath('/warehouse/my%20table/a', root)).toBe('a');
  });

  it('stay absolute outside the table', () => {
    expect(decodePath('file:///warehouse/my%20table2/a', root)).toBe('/warehouse/my table2/a');
    expect(decodePath('s3://bucket/a', root)).toBe('s3://bucket/a');
  });

  it('are refused when they are not percent-encoded', () => {
    expect(() => decodePath('50%', root)).toThrow(expect.objectContaining({ code: 'DELTA_LOG_CORRUPT' }) as Error);
  });
});
