import type { ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';
import { throwIfAborted } from '../../base/abort.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { ObjectInfo } from '../object-store.ts';
import { comparePaths, isStorablePath } from '../path.ts';
import type { S3Request } from './s3-errors.ts';
import type { S3Location } from './s3-location.ts';
import type { S3Requests } from './s3-requests.ts';

interface Bucket {
  readonly requests: S3Requests;
  readonly location: S3Location;
  readonly root: string;
}

const pageSize = 1_000;

/**
 * Objects below the location in the order of their keys, page after page. Keys that no path stands for, such as the markers some tools leave
 * for folders, are passed over.
 *
 * @throws ServiceError `STORAGE_LISTING_UNORDERED` (kind unsupported) for a server that does not list in order; what `s3Error` gives.
 */
export async function* listBucket(
  bucket: Bucket,
  options: { readonly prefix: string; readonly startAfter?: string | undefined },
  signal: AbortSignal | undefined,
): AsyncIterable<ObjectInfo> {
  const { prefix } = bucket.location;
  let last: string | undefined;
  let token: string | undefined;
  do {
    const page = await nextPage(bucket, { ...options, token }, signal);
    for (const { Key: listed, Size: sizeBytes = 0, LastModified: modified } of page.Contents ?? []) {
      throwIfAborted(signal);
      const key = decoded(listed ?? '', page.EncodingType);
      const path = key.slice(prefix.length);
      if (!key.startsWith(prefix) || !isStorablePath(path)) continue;
      if (last !== undefined && comparePaths(last, path) >= 0) throw unordered(bucket.root, last, path);
      last = path;
      if (options.startAfter !== undefined && comparePaths(path, options.startAfter) <= 0) continue;
      yield { path, sizeBytes, modifiedMs: modified?.getTime() ?? 0 };
    }
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
}

function nextPage(
  bucket: Bucket,
  options: { readonly prefix: string; readonly startAfter?: string | undefined; readonly token: string | undefined },
  signal: AbortSignal | undefined,
): Promise<ListObjectsV2CommandOutput> {
  const { requests, location, root } = bucket;
  const { prefix, startAfter, token } = options;
  const request: S3Request = { what: 'list', bucket: location.bucket, root, path: prefix, changes: false };
  return requests.send(request, { sentBytes: 0, signal }, ({ client, library }, abortSignal) =>
    client.send(
      new library.ListObjectsV2Command({
        Bucket: location.bucket,
        Prefix: `${location.prefix}${prefix}`,
        MaxKeys: pageSize,
        // Keys may hold characters that XML cannot.
        EncodingType: 'url',
        ...(token === undefined ? {} : { ContinuationToken: token }),
        ...(token === undefined && startAfter !== undefined ? { StartAfter: `${location.prefix}${startAfter}` } : {}),
      }),
      { abortSignal },
    ),
  );
}

/** A server that does not know the encoding does not name it either. */
function decoded(key: string, encoding: string | undefined): string {
  return encoding === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key;
}

function unordered(root: string, before: string, after: string): ServiceError {
  return serviceError.unsupported('STORAGE_LISTING_UNORDERED', `${root}: the server listed "${after}" behind "${before}"`, {
    hint: 'use a bucket that lists its keys in order: a directory bucket of S3 Express does not',
  });
}
