import { isServiceError, ServiceError } from '../../base/errors.ts';
import { isGrant, type StorageGrant, type StorageProperties, type StorageSettings } from '../../base/storage-settings.ts';
import { credentialsMayHaveEnded } from '../../storage/s3/s3-errors.ts';

/**
 * Runs a task that opens a store elsewhere with its settings as they are at this time, and once more with others when the store does not accept
 * them: what was handed out is renewed here, and another thread cannot ask.
 *
 * @throws what the task throws, as `unavailable` where settings were refused that are renewed, and what a renewal fails with.
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
    if (others === undefined) throw asPassing(error, settings);
    return await run(others).catch((again: unknown) => {
      throw wereRefused(again) ? asPassing(again, settings) : again;
    });
  }
}

/** The other thread knows nothing of others, which may be handed out by the next time. */
function asPassing(error: ServiceError, { renews }: StorageGrant): ServiceError {
  if (!renews) return error;
  const { code, message, hint, context } = error;
  return new ServiceError({ code, kind: 'unavailable', message, hint, context, cause: error });
}

function wereRefused(error: unknown): error is ServiceError {
  if (!isServiceError(error) || error.code !== 'STORAGE_ACCESS_DENIED') return false;
  const { status, reason } = error.context;
  return credentialsMayHaveEnded({ status: typeof status === 'number' ? status : undefined, code: String(reason) });
}
