import type { WriteRequest, WriteResult } from '../../table/row-operations.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/** Appends or overwrites; one version. */
export function writeRows(context: OperationContext, request: WriteRequest): Promise<WriteResult> {
  return Promise.reject(new TypeError(`${context.name} ${String(request.userMetadata)}`));
}
