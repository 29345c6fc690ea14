import type { EpochMs } from '../../base/clock.ts';
import { applyUpdates } from '../metadata/apply-updates.ts';
import { checkRequirements } from '../metadata/requirements.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import type { LoadedMetadata, MetadataChange, SwapOutcome } from './table-pointer.ts';

/**
 * What a change makes of its base, for pointers that write metadata themselves; or how the swap ends without writing: the change does not
 * apply, or it changes nothing.
 */
export function nextMetadata(
  base: LoadedMetadata | undefined,
  change: MetadataChange,
  nowMs: EpochMs,
): { readonly kind: 'next'; readonly metadata: TableMetadata } | Exclude<SwapOutcome, { readonly kind: 'unknown' }> {
  const reason = checkRequirements(base?.metadata, change.requirements);
  if (reason !== undefined) return { kind: 'conflicted', reason };
  const metadata = applyUpdates(base?.metadata, change.updates, { nowMs, baseLocation: base?.metadataLocation });
  return base !== undefined && metadata === base.metadata ? { kind: 'committed', loaded: base } : { kind: 'next', metadata };
}
