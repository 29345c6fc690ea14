import type { CommitOptions } from '../../table/row-operations.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import { appMark, progressPrefix } from '../progress.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { ValidationException } from './commit-errors.ts';

type Idempotency = CommitOptions['idempotency'];

/** Whether a table has this version of the application, or a later one, already. */
export function isAlreadyWritten(state: SnapshotState, { idempotency }: CommitOptions): boolean {
  if (idempotency === undefined) return false;
  const mark = state.progressOf(idempotency.appId);
  return mark !== undefined && mark >= idempotency.version;
}

/** The mark of a write that must happen once: a table property, in the same swap as the rows. */
export function markUpdates(idempotency: Idempotency): readonly MetadataUpdate[] {
  if (idempotency === undefined) return [];
  const { appId, version } = idempotency;
  return [{ action: 'set-properties', updates: { [progressPrefix + appId]: String(version) } }];
}

/**
 * The mark must not have moved since it was asked for: then the application runs twice.
 *
 * @throws ValidationException.
 */
export function checkMark(idempotency: Idempotency, asked: TableMetadata | undefined, newest: TableMetadata | undefined): void {
  if (idempotency === undefined) return;
  const { appId } = idempotency;
  const [before, after] = [asked, newest].map((metadata) => (metadata === undefined ? undefined : appMark(metadata, appId)));
  if (before === after) return;
  throw new ValidationException(
    `Found a concurrent commit of application "${appId}": its mark is ${after ?? 'gone'}, it was ${before ?? 'not there'}`,
    'make sure that one instance of the application runs at a time',
  );
}
