import type { DeleteRequest, RowOperationResult } from '../../table/row-operations.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/** DELETE; one version, or none when no row matches. */
export function deleteRows(context: OperationContext, request: DeleteRequest): Promise<RowOperationResult> {
  return Promise.reject(new TypeError(`${context.name} ${String(request.userMetadata)}`));
}
