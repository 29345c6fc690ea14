import { isServiceError } from '../../base/errors.ts';
import { isGrant, type StorageProperties, type StorageSettings } from '../../base/storage-settings.ts';
import { credentialsMayHaveEnded } from '../../storage/s3/s3-errors.ts';

/**
 * Runs a task that opens a store elsewhere with its settings as they are at this time, and once more with others when the store does not accept
 * them: what was handed out is renewed here, and another thread cannot ask.
 *
 * @throws what the task throws, and what a renewal fails with.
 */
export async function withPlainSettings<Result>(
  settings: StorageSettings | undefined,
  run: (properties: StorageProperties | undefined) => Promise<Result>,
): Promise<Result> {
  if (settings === undefined || !isGrant(settings)) return run(settings);
  const properties = await settings.current();
  try {
    return await run(properties);
  } catch (error) {
    if (!wereRefused(error)) throw error;
    const others = await settings.insteadOf(properties);
    if (others === undefined) throw error;
    return await run(others);
  }
}

function wereRefused(error: unknown): boolean {
  if (!isServiceError(error) || error.code !== 'STORAGE_ACCESS_DENIED') return false;
  const { status, reason } = error.context;
  return credentialsMayHaveEnded({ status: typeof status === 'number' ? status : undefined, code: String(reason) });
}
