import { describe, expect, it } from 'vitest';
import { isS3Location, parseS3Location, s3Uri } from '../../../../src/storage/s3/s3-location.ts';

describe('locations in object stores', () => {
  it.each([
    ['s3://bucket', { bucket: 'bucket', prefix: '' }, 's3://bucket'],
    ['s3a://bucket/', { bucket: 'bucket', prefix: '' }, 's3://bucket'],
    ['S3N://b.c-d/a/b//', { bucket: 'b.c-d', prefix: 'a/b/' }, 's3://b.c-d/a/b'],
    ['s3://bucket/a b/day=1/100%', { bucket: 'bucket', prefix: 'a b/day=1/100%/' }, 's3://bucket/a%20b/day=1/100%25'],
  ])('%s', (location, parsed, uri) => {
    expect(isS3Location(location)).toBe(true);
    expect(parseS3Location(location)).toEqual(parsed);
    expect(s3Uri(parsed)).toBe(uri);
  });

  it.each(['s3://', 's3:///path', 's3://bucket/a//b', 's3://bucket/../other', 's3://bu cket/a', 's3://user:pw@host/a'])(
    'refuses %s',
    (location) => {
      expect(() => parseS3Location(location)).toThrow(expect.objectContaining({ code: 'STORAGE_LOCATION_INVALID' }));
    },
  );
});
