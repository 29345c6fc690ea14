import { serviceError } from '../../base/errors.ts';
import { isStorablePath } from '../path.ts';

/** A bucket and where below it the objects lie. */
export interface S3Location {
  readonly bucket: string;
  /** Empty, or ends in `/`. As the keys begin: nothing is decoded. */
  readonly prefix: string;
}

/** The schemes that mean the same store: Hadoop's names are taken too. */
const scheme = /^s3[an]?:\/\//i;
const bucketName = /^[a-z0-9][a-z0-9._-]{1,254}$/i;

export function isS3Location(location: string): boolean {
  return scheme.test(location);
}

/**
 * Bucket and prefix of `s3://bucket/prefix` (`s3a://`, `s3n://`).
 *
 * @throws ServiceError `STORAGE_LOCATION_INVALID` (kind invalid).
 */
export function parseS3Location(location: string): S3Location {
  const rest = location.replace(scheme, '');
  const slash = rest.indexOf('/');
  const bucket = slash < 0 ? rest : rest.slice(0, slash);
  const path = slash < 0 ? '' : rest.slice(slash + 1).replace(/\/+$/, '');
  if (bucketName.test(bucket) && (path === '' || isStorablePath(path))) return { bucket, prefix: path === '' ? '' : `${path}/` };
  throw serviceError.invalid('STORAGE_LOCATION_INVALID', `"${location.slice(0, 200)}" is not a location in an object store`, {
    hint: 'write s3://bucket/prefix, without empty names, "." or ".." between the slashes',
  });
}

/** The location as a URI: what a URI cannot hold as it is, is percent-encoded. */
export function s3Uri(location: S3Location): string {
  const names = location.prefix.replace(/\/$/, '').split('/');
  const path = names.map((name) => encodeURIComponent(name).replaceAll('%3D', '=')).join('/');
  return path === '' ? `s3://${location.bucket}` : `s3://${location.bucket}/${path}`;
}
