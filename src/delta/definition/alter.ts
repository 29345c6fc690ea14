import type { DefinitionChange } from '../../table/definition-changes.ts';
import type { CommitOptions } from '../../table/row-operations.ts';
import type { Version } from '../../table/version.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/** ALTER TABLE; one version, or none when nothing changes. */
export function alter(context: OperationContext, change: DefinitionChange, options: CommitOptions = {}): Promise<Version | undefined> {
  return Promise.reject(new TypeError(`${context.name} ${change.kind} ${String(options.userMetadata)}`));
}
