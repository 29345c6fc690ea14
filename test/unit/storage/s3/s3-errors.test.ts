import { describe, expect, it } from 'vitest';
import { type S3Request, s3Error } from '../../../../src/storage/s3/s3-errors.ts';

const request = (what: string, changes = false): S3Request => ({ what, bucket: 'b', root: 's3://b', path: 'p', changes });

describe('what a failed request means', () => {
  it('is a missing object for a read', () => {
    expect(s3Error({ status: 404, code: 'NoSuchKey' }, request('read'))).toMatchObject({ code: 'STORAGE_NOT_FOUND', kind: 'not-found' });
  });

  it('is no missing object for a listing: a table would be taken for not there', () => {
    expect(s3Error({ status: 404, code: 'NoSuchKey' }, request('list'))).toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      kind: 'unavailable',
    });
  });

  it('is a missing bucket whatever was asked', () => {
    expect(s3Error({ status: 404, code: 'NoSuchBucket' }, request('list'))).toMatchObject({
      code: 'STORAGE_BUCKET_NOT_FOUND',
      kind: 'invalid',
    });
  });

  it('is unknown where a change may have been made', () => {
    expect(s3Error({ status: 500, code: 'InternalError' }, request('put', true))).toMatchObject({ kind: 'unknown-outcome' });
    expect(s3Error({ status: undefined, code: 'ECONNREFUSED' }, request('put', true))).toMatchObject({ kind: 'unavailable' });
  });
});
