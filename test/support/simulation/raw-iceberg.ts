import type { JsonObject } from '../../../src/base/bigint-json.ts';
import { icebergVersions, parseMetadata, type RawMetadata } from '../checks-iceberg.ts';
import type { Add } from '../checks-log.ts';
import type { RawFile, RawVersion } from './raw-table.ts';
import type { RecordingStore } from './recording-store.ts';
import { tableLocation } from './simulated-world.ts';

const metadataName = /^metadata\/v(\d+)\.metadata\.json$/;

/** Every version that ever was, oldest first, whatever expiry has taken since; version 0 is the empty table. */
export function rawIcebergVersions(store: RecordingStore): readonly RawVersion[] {
  const files = [...store.written.values()]
    .flatMap((object) => {
      const number = metadataName.exec(object.path)?.[1];
      return number === undefined ? [] : [{ number: Number(number), object }];
    })
    .sort((left, right) => left.number - right.number)
    .map(({ object }) => ({ atMs: object.atMs, metadata: parseMetadata(Buffer.from(object.bytes).toString('utf8')) }));
  const newest = files.at(-1);
  if (newest === undefined) return [];
  const snapshots = new Map(
    files.flatMap(({ metadata }) => metadata.snapshots ?? []).map((snapshot) => [snapshot['snapshot-id'], snapshot]),
  );
  const atMs = new Map<string, number>();
  for (const file of files) {
    for (const { 'snapshot-id': id } of file.metadata.snapshots ?? []) if (!atMs.has(id)) atMs.set(id, file.atMs);
  }
  const whole: RawMetadata = { ...newest.metadata, snapshots: [...snapshots.values()] };
  const read = (location: string): Buffer => {
    const stored = store.written.get(relative(location));
    if (stored === undefined) throw new Error(`${location} was never written`);
    return Buffer.from(stored.bytes);
  };
  const { versions, snapshots: main } = icebergVersions(whole, { read, relative });
  const empty: RawVersion = { version: 0, atMs: 0, adds: [], removes: [], marks: [], operation: 'CREATE', userMetadata: '' };
  const added = new Map<string, RawFile>();
  return [
    empty,
    ...versions.map(({ version, adds, removes, marks, operation }, index): RawVersion => {
      const summary = main[index]?.summary ?? {};
      const files = adds.map(rawFile);
      for (const file of files) added.set(file.path, file);
      return {
        version,
        atMs: atMs.get(main[index]?.['snapshot-id'] ?? '') ?? 0,
        adds: files,
        removes: removes.flatMap(({ path }) => added.get(path) ?? []),
        marks: [...marks].map(([writerId, value]) => ({ writerId, value })),
        operation,
        userMetadata: summary['tidewater.user-metadata'] ?? '',
      };
    }),
  ];
}

function rawFile({ path, size, dataChange, stats }: Add): RawFile {
  return { path, partitionValues: {}, size, dataChange, stats: { ...stats } as unknown as JsonObject };
}

function relative(location: string): string {
  return location.startsWith(`${tableLocation}/`) ? location.slice(tableLocation.length + 1) : location;
}
