import type { MergeRequest, RowOperationResult } from '../../table/row-operations.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/** MERGE; one version, or none when nothing changes. */
export function mergeRows(context: OperationContext, request: MergeRequest): Promise<RowOperationResult> {
  return Promise.reject(new TypeError(`${context.name} ${String(request.userMetadata)}`));
}
