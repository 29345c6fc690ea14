import type { RowOperationResult, UpdateRequest } from '../../table/row-operations.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/** UPDATE; one version, or none when no row matches. */
export function updateRows(context: OperationContext, request: UpdateRequest): Promise<RowOperationResult> {
  return Promise.reject(new TypeError(`${context.name} ${String(request.userMetadata)}`));
}
