import { describe, expect, it } from 'vitest';
import { decodePath } from '../../../../src/delta/paths.ts';
import { absolutePathOf } from '../../../../src/delta/scan/file-location.ts';

const root = '/data/my table';
const placeAt = (at: string, outside: readonly string[]) => ({
  root: at,
  isLocal: at.startsWith('/'),
  within: { directories: [at, ...outside], of: 'table "t"', setting: 'tidewater.delta.allowedLocations' },
});
const locate = (path: string, outside = ['/elsewhere', 's3://bucket']) =>
  absolutePathOf({ path, storedPath: decodePath(path, `file://${encodeURI(root)}`) }, placeAt(root, outside), 't');

describe('absolutePathOf', () => {
  it.each([
    ['part-0.parquet', '/data/my table/part-0.parquet'],
    ['letter=%252F%2520%2525f/a%20b.parquet', '/data/my table/letter=%2F%20%25f/a b.parquet'],
    ['file:///data/my%20table/p.parquet', '/data/my table/p.parquet'],
    ['/data/my%20table/p.parquet', '/data/my table/p.parquet'],
    ['file:/elsewhere/a%20b/p.parquet', '/elsewhere/a b/p.parquet'],
    ['file:///elsewhere/100%25.parquet', '/elsewhere/100%.parquet'],
    ['a..b/..c/p.parquet', '/data/my table/a..b/..c/p.parquet'],
  ])('opens %s at %s', (path, expected) => {
    expect(locate(path)).toBe(expected);
  });

  it.each([
    '../p.parquet',
    '%2E%2E/p.parquet',
    'a/..%2F../p.parquet',
    'file:///data/my%20table/../other/p.parquet',
    'file:///a/%2e%2e/p.parquet',
  ])('refuses to climb: %s', (path) => {
    expect(() => locate(path)).toThrow(expect.objectContaining({ code: 'DELTA_PATH_REFUSED', kind: 'corrupt' }));
  });

  it.each(['/etc/passwd', '%2Fetc%2Fpasswd', '/data/my%20tableau/p.parquet', 'p%00.parquet'])(
    'refuses what is no URI of a file outside: %s',
    (path) => {
      expect(() => locate(path)).toThrow(expect.objectContaining({ code: 'DELTA_PATH_REFUSED' }));
    },
  );

  it.each([
    'file:///elsewhere/p.parquet',
    'FILE:/elsewhere/p.parquet',
    'file:/%65lsewhere/p.parquet',
    'file:///elsewhere2/p.parquet',
    'file:///data/my%20table\\..\\..\\elsewhere/p.parquet',
    's3://other-bucket/p.parquet',
    'S3A://other-bucket/p.parquet',
  ])('refuses what lies in no place that is allowed, naming file, place and setting: %s', (path) => {
    const outside = path.includes('elsewhere2') ? ['/elsewhere'] : ['s3://bucket'];
    expect(() => locate(path, outside)).toThrow(
      expect.objectContaining({
        code: 'FILE_OUTSIDE_TABLE',
        message: expect.stringMatching(/table "t".*(elsewhere|other-bucket)/) as string,
        hint: expect.stringContaining('tidewater.delta.allowedLocations') as string,
      }),
    );
  });

  it('opens what a clone refers to in an object store, whatever its scheme is called', () => {
    expect(locate('s3a://bucket/a%20b/p.parquet')).toBe('s3://bucket/a b/p.parquet');
    expect(locate('s3://bucket/p.parquet')).toBe('s3://bucket/p.parquet');
  });

  it('finds the files of a table in an object store, however its root is spelled', () => {
    const place = placeAt('s3://bucket/my table', []);
    const inBucket = (path: string) => absolutePathOf({ path, storedPath: decodePath(path, 's3://bucket/my%20table') }, place, 't');
    expect(inBucket('a%20b/p.parquet')).toBe('s3://bucket/my table/a b/p.parquet');
    expect(inBucket('s3a://bucket/my%20table/p.parquet')).toBe('s3://bucket/my table/p.parquet');
  });

  it('never leads from an object store to local files', () => {
    const place = placeAt('s3://bucket/t', ['/etc']);
    const path = 'file:///etc/hosts.parquet';
    expect(() => absolutePathOf({ path, storedPath: decodePath(path, place.root) }, place, 't')).toThrow(
      expect.objectContaining({ code: 'DELTA_PATH_UNSUPPORTED' }),
    );
  });

  it('names another file system as what it cannot open', () => {
    expect(() => locate('hdfs://host/p.parquet')).toThrow(expect.objectContaining({ code: 'DELTA_PATH_UNSUPPORTED', kind: 'unsupported' }));
  });
});
