import type { OptimizeRequest, OptimizeResult } from '../../table/row-operations.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/** Fewer, larger (or clustered) files with the same rows; one version, or none. */
export function optimize(context: OperationContext, request: OptimizeRequest): Promise<OptimizeResult> {
  return Promise.reject(new TypeError(`${context.name} ${String(request.userMetadata)}`));
}
