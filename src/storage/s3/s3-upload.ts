import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { CompletedPart } from '@aws-sdk/client-s3';
import { throwIfAborted } from '../../base/abort.ts';
import { present } from '../../base/assert.ts';
import { ServiceError, serviceError } from '../../base/errors.ts';
import type { S3Request } from './s3-errors.ts';
import type { S3Requests } from './s3-requests.ts';

/** What goes up: bytes `[from, until)` of it are read when they are sent. */
export interface UploadSource {
  readonly sizeBytes: number;
  read(from: number, until: number): Promise<Uint8Array>;
}

/** What is smaller goes up as one. */
export const multipartThresholdBytes: number = 16 << 20;
const minPartBytes: number = 16 << 20;
const maxParts = 10_000;
const partsInFlight = 4;

interface Upload {
  readonly requests: S3Requests;
  /** The server checks the parts and the whole by checksums of theirs. */
  readonly checksums: boolean;
  readonly request: S3Request;
  readonly key: string;
  readonly source: UploadSource;
  readonly signal: AbortSignal | undefined;
}

/**
 * Uploads in parts, a few at a time; the object appears, whole, with the last step. A failed upload is given back to the server; one whose last
 * step may have been done is left alone.
 *
 * @throws ServiceError what `s3Error` gives; `ABORTED`.
 */
export async function uploadInParts(upload: Upload): Promise<void> {
  const { requests, request, key, signal } = upload;
  const place = { Bucket: request.bucket, Key: key };
  const algorithm = upload.checksums ? ({ ChecksumAlgorithm: 'CRC32' } as const) : {};
  const uploadId = await requests.send(request, { sentBytes: 0, signal }, async ({ client, library }, abortSignal) => {
    const begun = await client.send(new library.CreateMultipartUploadCommand({ ...place, ...algorithm }), { abortSignal });
    return present(begun.UploadId, 'a multipart upload has an id');
  });
  let completing = false;
  try {
    const parts = await uploadParts(upload, uploadId);
    throwIfAborted(signal);
    completing = true;
    // No signal: once asked for, only the answer tells whether the object is there.
    await requests.send(request, { sentBytes: 0, signal: undefined }, ({ client, library }, abortSignal) =>
      client.send(new library.CompleteMultipartUploadCommand({ ...place, UploadId: uploadId, MultipartUpload: { Parts: parts } }), {
        abortSignal,
      }),
    );
  } catch (error) {
    const mayBeThere = completing && error instanceof ServiceError && error.kind === 'unknown-outcome';
    if (!mayBeThere) {
      // Best effort: what stays behind falls to the bucket's rule for incomplete uploads.
      await requests
        .attempt({ sentBytes: 0, signal: undefined }, ({ client, library }, abortSignal) =>
          client.send(new library.AbortMultipartUploadCommand({ ...place, UploadId: uploadId }), { abortSignal }),
        )
        .catch(() => undefined);
    }
    throw error;
  }
}

async function uploadParts(upload: Upload, uploadId: string): Promise<CompletedPart[]> {
  const { requests, request, key, source, signal } = upload;
  const partBytes = Math.max(minPartBytes, Math.ceil(source.sizeBytes / maxParts));
  const count = Math.ceil(source.sizeBytes / partBytes);
  const parts: CompletedPart[] = [];
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < count && !failed) {
      const index = next++;
      throwIfAborted(signal);
      const body = await source.read(index * partBytes, Math.min(source.sizeBytes, (index + 1) * partBytes));
      const answer = await requests.send(request, { sentBytes: body.byteLength, signal }, async ({ client, library }, abortSignal) => {
        const algorithm = upload.checksums ? ({ ChecksumAlgorithm: 'CRC32' } as const) : {};
        const part = { Bucket: request.bucket, Key: key, UploadId: uploadId, PartNumber: index + 1, Body: body, ...algorithm };
        return client.send(new library.UploadPartCommand(part), { abortSignal });
      });
      parts[index] = completedPart(index + 1, answer, upload.checksums);
    }
  };
  const workers = Array.from({ length: Math.min(partsInFlight, count) }, () =>
    worker().catch((error: unknown) => {
      failed = true;
      throw error;
    }),
  );
  // All have ended before the upload is given back: a part that arrives later would bring it to life again.
  for (const settled of await Promise.allSettled(workers)) if (settled.status === 'rejected') throw settled.reason;
  return parts;
}

interface PartAnswer {
  readonly ETag?: string | undefined;
  readonly ChecksumCRC32?: string | undefined;
}

function completedPart(number: number, answer: PartAnswer, checksums: boolean): CompletedPart {
  return {
    PartNumber: number,
    ETag: answer.ETag,
    ...(checksums && answer.ChecksumCRC32 !== undefined ? { ChecksumCRC32: answer.ChecksumCRC32 } : {}),
  };
}

export function bytesSource(bytes: Uint8Array): UploadSource {
  return { sizeBytes: bytes.byteLength, read: (from, until) => Promise.resolve(bytes.subarray(from, until)) };
}

/** Runs with a local file as the source. @throws ServiceError `STORAGE_LOCAL_FILE_CHANGED` (internal) when it shrinks meanwhile. */
export async function withFileSource<T>(path: string, use: (source: UploadSource) => Promise<T>): Promise<T> {
  const file = await open(path, constants.O_RDONLY);
  try {
    const { size: sizeBytes } = await file.stat();
    return await use({ sizeBytes, read: (from, until) => readAll(file, path, from, until) });
  } finally {
    await file.close();
  }
}

async function readAll(file: FileHandle, path: string, from: number, until: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(until - from);
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled);
    if (bytesRead === 0) {
      throw serviceError.internal('STORAGE_LOCAL_FILE_CHANGED', `file "${path}" became shorter while it was uploaded`);
    }
    filled += bytesRead;
  }
  return bytes;
}
