import { isGrant, type StorageProperties, type StorageSettings } from '../base/storage-settings.ts';
import { mergedProperties } from './s3/s3-settings.ts';

/** Settings on top of properties, as `mergedProperties`; what is handed out stays renewable. */
export function mergedSettings(base: StorageProperties, over: StorageSettings): StorageSettings {
  if (!isGrant(over)) return mergedProperties(base, over);
  return {
    get newest() {
      return mergedProperties(base, over.newest);
    },
    get renews() {
      return over.renews;
    },
    current: async () => mergedProperties(base, await over.current()),
    insteadOf: async (refused) => {
      const others = await over.insteadOf(refused);
      return others === undefined ? undefined : mergedProperties(base, others);
    },
  };
}
