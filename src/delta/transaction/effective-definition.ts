import type { Action, MetadataAction, ProtocolAction } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';

/** The protocol in force once the actions are committed on top of `base`. */
export function effectiveProtocol(base: DeltaSnapshot, actions: readonly Action[]): ProtocolAction {
  return actions.findLast((action): action is ProtocolAction => action.kind === 'protocol') ?? base.protocol;
}

/** The metadata in force once the actions are committed on top of `base`. */
export function effectiveMetadata(base: DeltaSnapshot, actions: readonly Action[]): MetadataAction {
  return actions.findLast((action): action is MetadataAction => action.kind === 'metaData') ?? base.metadata;
}
