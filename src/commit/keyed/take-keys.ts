import { printJson } from '../../base/bigint-json.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import { type ChangeImages, changeImagesProperty, keyColumnsOf, keyedByProperty } from '../../table/keyed.ts';
import type { Snapshot, Table } from '../../table/table.ts';

const maxTold = 10;

interface KeysToTake {
  readonly keyColumns: readonly string[];
  readonly orderColumns: readonly string[];
  readonly onRepeatedKeys: 'fail' | 'keep-last';
  readonly changeImages: ChangeImages;
}

/**
 * Sees that a table has no two rows of one key before rows are replaced in it by key. It is read once: the table says so from then on. Says how many
 * rows were deleted for it; what is done is done again after a stop in between.
 *
 * @throws ServiceError `KEYS_REPEATED` (kind invalid) with some of the keys that several rows have; what reading and changing the table throw.
 */
export async function takeKeys(
  table: Pick<Table, 'name' | 'refresh' | 'repeatedKeys' | 'keepLastRows' | 'operations'>,
  { keyColumns, orderColumns, onRepeatedKeys, changeImages }: KeysToTake,
  signal?: AbortSignal,
): Promise<bigint> {
  const snapshot = await table.refresh(signal);
  const images = imagesToSay(snapshot, changeImages);
  if (keyColumnsOf(snapshot).toSorted().join('\0') === keyColumns.toSorted().join('\0')) {
    if (images !== undefined) await table.operations.alter(images, { signal });
    return 0n;
  }
  let repeated = await repeatedIn(table, snapshot, keyColumns, signal);
  let deletedRows = 0n;
  if (repeated.length > 0 && onRepeatedKeys === 'keep-last') {
    const userMetadata = `kept the last row of each key (${keyColumns.join(', ')})`;
    deletedRows = await table.keepLastRows(keyColumns, orderColumns, { userMetadata, signal });
    repeated = await repeatedIn(table, await table.refresh(signal), keyColumns, signal);
  }
  if (repeated.length > 0) throw keysRepeated(table.name, keyColumns, repeated);
  if (images?.kind === 'unset-properties') await table.operations.alter(images, { signal });
  const properties = { [keyedByProperty]: printJson([...keyColumns]), ...(images?.kind === 'set-properties' ? images.properties : {}) };
  await table.operations.alter({ kind: 'set-properties', properties }, { signal });
  return deletedRows;
}

/** What makes the table say how its images are; `undefined`: it does. Without a word they are stored. */
function imagesToSay({ properties }: Pick<Snapshot, 'properties'>, images: ChangeImages): ImagesChange | undefined {
  const told = properties[changeImagesProperty];
  if (images === 'stored')
    return told === undefined ? undefined : { kind: 'unset-properties', keys: [changeImagesProperty], ifExists: true };
  return told === images ? undefined : { kind: 'set-properties', properties: { [changeImagesProperty]: images } };
}

type ImagesChange =
  | { readonly kind: 'set-properties'; readonly properties: Readonly<Record<string, string>> }
  | { readonly kind: 'unset-properties'; readonly keys: readonly string[]; readonly ifExists: true };

async function repeatedIn(
  table: Pick<Table, 'repeatedKeys'>,
  snapshot: Snapshot,
  keyColumns: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  return snapshot.fileCount === 0 ? [] : table.repeatedKeys(snapshot, keyColumns, maxTold, signal);
}

/** A table whose records are added again may come to have several rows of one key. */
export async function forgetKeys(table: Pick<Table, 'refresh' | 'operations'>, signal?: AbortSignal): Promise<void> {
  const { properties } = await table.refresh(signal);
  if (properties[keyedByProperty] === undefined) return;
  await table.operations.alter({ kind: 'unset-properties', keys: [keyedByProperty, changeImagesProperty], ifExists: true }, { signal });
}

function keysRepeated(table: string, keyColumns: readonly string[], repeated: readonly string[]): ServiceError {
  const told = repeated.map((key) => `(${key})`).join(', ');
  return serviceError.invalid(
    'KEYS_REPEATED',
    `table "${table}" has several rows of one key (${keyColumns.join(', ')}), among them ${told}`,
    {
      hint: 'delete all but one row of each key, or have the last one kept (onRepeatedKeys: keep-last), or name other keyColumns, and start again',
      context: { table },
    },
  );
}
