import { isServiceError } from '../base/errors.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { TablePointer } from '../iceberg/pointer/table-pointer.ts';

/**
 * Passes failpoint S1 before every swap of a catalog's table and F5 after each that was committed: a kill there is a commit whose response
 * never arrived, an error there an unknown outcome.
 */
export function failpointPointer(pointer: TablePointer, failpoint: Failpoint): TablePointer {
  return {
    name: pointer.name,
    singleWriterOnly: pointer.singleWriterOnly,
    fileSettings: pointer.fileSettings,
    ownPlaces: (loaded) => pointer.ownPlaces(loaded),
    load: (known, signal) => pointer.load(known, signal),
    swap: async (base, change, signal) => {
      await failpoint('S1');
      const outcome = await pointer.swap(base, change, signal);
      if (outcome.kind !== 'committed') return outcome;
      try {
        await failpoint('F5');
        return outcome;
      } catch (cause) {
        if (!isServiceError(cause)) throw cause;
        return { kind: 'unknown', cause };
      }
    },
  };
}
