/** Settings of object stores by the names users know, such as `s3.endpoint`. */
export type StorageProperties = Readonly<Record<string, string>>;

/**
 * Settings that somebody else hands out and replaces in time, such as the credentials of a catalog. It belongs to the thread it was made in:
 * another thread is sent what `current` gives.
 */
export interface StorageGrant {
  /** As they were handed out last; they may have ended. */
  readonly newest: StorageProperties;
  /** Whether others may be handed out in place of those that are refused, if not now then later. */
  readonly renews: boolean;
  /** Settings to begin a request with: those that end soon are replaced first. Callers at the same time share one renewal. @throws ServiceError */
  current(): Promise<StorageProperties>;
  /** Settings in place of those that a store has not accepted; `undefined`: there are no others. @throws ServiceError as `current`. */
  insteadOf(refused: StorageProperties): Promise<StorageProperties | undefined>;
}

/** Settings of a store: plain data, or handed out. */
export type StorageSettings = StorageProperties | StorageGrant;

/** A setting is text, so nothing of that name is a function by chance. */
export function isGrant(settings: StorageSettings): settings is StorageGrant {
  return typeof settings['current'] === 'function';
}
