import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import { serviceError } from '../base/errors.ts';
import { type IdSource, RandomIdSource } from '../base/ids.ts';
import { isGrant, type StorageSettings } from '../base/storage-settings.ts';
import { SystemClock } from '../base/system-clock.ts';
import { systemEnvironment } from '../base/system-environment.ts';
import { SystemRandom } from '../base/system-random.ts';
import { LocalObjectStore } from './local-object-store.ts';
import { MemoryObjectStore } from './memory-object-store.ts';
import { mergedSettings } from './merged-settings.ts';
import type { ObjectStore, OpenStoreWith } from './object-store.ts';
import { S3Clients } from './s3/s3-clients.ts';
import { s3Connections } from './s3/s3-connections.ts';
import { isS3Location, parseS3Location } from './s3/s3-location.ts';
import { S3ObjectStore } from './s3/s3-object-store.ts';
import { environmentProperties, mergedProperties, type StorageProperties, s3Settings } from './s3/s3-settings.ts';

/**
 * Opens stores with settings (`s3.endpoint`, `s3.access-key-id` …) on top of those the opener has: a table's own endpoint, or credentials that a
 * catalog hands out for it and renews while the store is open. Credentials replace those below as a whole.
 */
export interface ObjectStoreOpener extends OpenStoreWith {
  /** An opener that has these settings too. */
  withProperties(properties: StorageProperties): ObjectStoreOpener;
}

/**
 * Opens stores by location: `file:///abs/dir`, an absolute or relative directory, `s3://bucket/prefix` (`s3a://`), or `memory://name`, which is
 * one store per name for every caller of the returned function and of those made from it. Nothing is connected before the first request.
 *
 * @param parts.properties settings of object stores, by the names users know.
 * @param parts.environment where settings that are not given are looked for (`AWS_REGION`, `AWS_ENDPOINT_URL` …). Default: nowhere.
 * @throws ServiceError (the returned function) `STORAGE_LOCATION_INVALID`, `STORAGE_SETTINGS_INVALID` (kind invalid).
 */
export function objectStoreOpener(parts: {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly properties?: StorageProperties | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}): ObjectStoreOpener {
  const { clock, ids } = parts;
  const shared = { clock, ids, memories: new Map<string, ObjectStore>(), clients: new S3Clients() };
  return openerOf(shared, mergedProperties(environmentProperties(parts.environment ?? {}), parts.properties ?? {}));
}

/** The opener of this thread, with the real clock and the settings of the environment. */
export const openObjectStore: ObjectStoreOpener = objectStoreOpener({
  clock: new SystemClock(),
  ids: new RandomIdSource(new SystemRandom()),
  environment: systemEnvironment,
});

/**
 * Refuses locations no store of a pipeline opens, without opening one. Memories are of one thread, and a pipeline has several.
 *
 * @throws ServiceError `STORAGE_LOCATION_INVALID` (kind invalid).
 */
export function checkLocation(location: string): void {
  if (isS3Location(location)) parseS3Location(location);
  else directoryOf(location);
}

interface Shared {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly memories: Map<string, ObjectStore>;
  readonly clients: S3Clients;
}

function openerOf(shared: Shared, properties: StorageProperties): ObjectStoreOpener {
  const open = (location: string, settings: StorageSettings = {}): ObjectStore => {
    const memory = /^memory:\/\/(.+)$/.exec(location)?.[1];
    if (memory !== undefined) return memoryStore(shared, memory);
    if (isS3Location(location)) return s3Store(shared, location, mergedSettings(properties, settings));
    return new LocalObjectStore({ directory: directoryOf(location), ids: shared.ids });
  };
  const withProperties = (more: StorageProperties): ObjectStoreOpener => openerOf(shared, mergedProperties(properties, more));
  return Object.assign(open, { withProperties });
}

function memoryStore(shared: Shared, name: string): ObjectStore {
  const store = shared.memories.get(name) ?? new MemoryObjectStore({ name, clock: shared.clock });
  shared.memories.set(name, store);
  return store;
}

function s3Store(shared: Shared, location: string, settings: StorageSettings): ObjectStore {
  const { requestTimeoutMs, checksums } = s3Settings(isGrant(settings) ? settings.newest : settings);
  return new S3ObjectStore({
    location: parseS3Location(location),
    connections: s3Connections(shared.clients, settings),
    clock: shared.clock,
    requestTimeoutMs,
    checksums,
  });
}

function directoryOf(location: string): string {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(location) && location !== '') return location;
  try {
    return fileURLToPath(location);
  } catch (cause) {
    throw serviceError.invalid('STORAGE_LOCATION_INVALID', `"${location}" is not a location this version can open`, {
      hint: 'write a directory, file:///absolute/directory or s3://bucket/prefix; other stores have no adapter yet',
      cause,
    });
  }
}
