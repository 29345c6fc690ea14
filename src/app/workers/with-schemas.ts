import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import type { RegisteredSchema, SchemaKey } from '../../protocol/payload-encoding.ts';

/** Where a stager's caller gets schemas. */
export interface SchemaSource {
  /** @throws ServiceError kind `unavailable` while the registry does not answer, or has none of a key that is waited for. */
  schema(key: SchemaKey, signal?: AbortSignal): Promise<RegisteredSchema>;
}

/** A thread that stages a batch lacks schemas; it has written nothing. */
export function schemasNeeded(keys: readonly SchemaKey[]): ServiceError {
  return serviceError.unavailable('SCHEMAS_NEEDED', `payloads refer to schemas that are not known yet: ${keys.join(', ')}`, {
    hint: 'the service gets them from its registry and tries again',
    context: { keys: keys.join(' ') },
  });
}

/**
 * Does what a thread does with payloads that name schemas: those that it lacks are brought to it, which cannot ask a registry itself. `run` is given
 * those, and must leave the bytes of its task here.
 */
export async function withSchemas<Result>(
  { source, signal }: { readonly source: SchemaSource | undefined; readonly signal: AbortSignal | undefined },
  run: (schemas: readonly RegisteredSchema[]) => Promise<Result>,
): Promise<Result> {
  const schemas = new Map<SchemaKey, RegisteredSchema>();
  for (;;) {
    try {
      return await run([...schemas.values()]);
    } catch (error) {
      if (source === undefined || !isServiceError(error) || error.code !== 'SCHEMAS_NEEDED') throw error;
      const wanted = String(error.context['keys'])
        .split(' ')
        .filter((key) => !schemas.has(key));
      // What was brought is asked for again only by a thread that dropped it at once.
      if (wanted.length === 0) throw error;
      for (const key of wanted) schemas.set(key, await source.schema(key, signal));
    }
  }
}
