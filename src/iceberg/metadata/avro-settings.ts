import { createHash } from 'node:crypto';
import { serviceError } from '../../base/errors.ts';
import type { AvroCodec } from '../../codec/avro/read-container.ts';

/** A sequence number that is not known yet: that of the snapshot which the commit makes. In files it is null. */
export const unassignedSequenceNumber = -1n;

/**
 * How manifests are packed, from `write.manifest.compression-codec`; `gzip` (the default) is Avro's deflate.
 *
 * @throws ServiceError `ICEBERG_CODEC_UNKNOWN` (kind invalid).
 */
export function avroCodecOf(property: string | undefined): AvroCodec {
  switch ((property ?? 'gzip').toLowerCase()) {
    case 'gzip':
    case 'deflate':
      return 'deflate';
    case 'zstd':
    case 'zstandard':
      return 'zstandard';
    case 'snappy':
      return 'snappy';
    case 'uncompressed':
    case 'none':
      return 'null';
    default:
      throw serviceError.invalid(
        'ICEBERG_CODEC_UNKNOWN',
        `write.manifest.compression-codec: "${property ?? ''}" is no codec of manifests`,
        { hint: 'set gzip, zstd, snappy or uncompressed' },
      );
  }
}

/** Sixteen bytes that no other file of a table has, from what tells it from the others. */
export function syncMarkerOf(...parts: readonly (string | number | bigint)[]): Uint8Array {
  return new Uint8Array(createHash('sha256').update(parts.join('\0')).digest().subarray(0, 16));
}

/** A text map of an Avro header, without what is absent. */
export function headerOf(entries: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, string> {
  const header = new Map<string, string>();
  for (const [key, value] of Object.entries(entries)) if (value !== undefined) header.set(key, value);
  return header;
}
