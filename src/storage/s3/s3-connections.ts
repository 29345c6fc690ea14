import { isGrant, type StorageProperties, type StorageSettings } from '../../base/storage-settings.ts';
import type { S3Clients, S3Connection } from './s3-clients.ts';
import { s3Settings } from './s3-settings.ts';

/** The way to the server, by settings that may be replaced while a store is open. */
export interface S3Connections {
  /** Whether credentials that are refused may be followed by others. */
  readonly renews: boolean;
  /** By the settings as they are at this time: asked for with every request. @throws ServiceError when they have ended and there are no others. */
  open(): Promise<S3Connection>;
  /** Another in place of one whose credentials were not accepted; `undefined`: there is none. @throws ServiceError as `open`. */
  insteadOf(refused: S3Connection): Promise<S3Connection | undefined>;
}

/**
 * Each set of credentials has a client of its own, with all other settings that came with them; the vendor's client could renew credentials only,
 * by the system's clock, and keeps those that do not say when they end for ever.
 */
export function s3Connections(clients: S3Clients, settings: StorageSettings): S3Connections {
  if (!isGrant(settings)) {
    const fixed = s3Settings(settings);
    return { renews: false, open: () => clients.open(fixed), insteadOf: () => Promise.resolve(undefined) };
  }
  const openedWith = new WeakMap<S3Connection, StorageProperties>();
  const openWith = async (properties: StorageProperties): Promise<S3Connection> => {
    const connection = await clients.open(s3Settings(properties));
    openedWith.set(connection, properties);
    return connection;
  };
  return {
    get renews() {
      return settings.renews;
    },
    open: async () => openWith(await settings.current()),
    insteadOf: async (refused) => {
      const properties = openedWith.get(refused);
      const others = properties === undefined ? undefined : await settings.insteadOf(properties);
      return others === undefined ? undefined : openWith(others);
    },
  };
}
