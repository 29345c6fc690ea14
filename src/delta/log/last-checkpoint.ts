import { isJsonObject, type JsonObject, parseJson, printJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { toVersion, type Version } from '../../table/version.ts';
import { jsonChecksum } from '../checkpoint/json-checksum.ts';
import { lastCheckpointPath } from './log-names.ts';

export interface LastCheckpoint {
  readonly version: Version;
  /** Actions in the checkpoint. */
  readonly size: number;
  readonly sizeInBytes: number;
  readonly numOfAddFiles: number;
  /** The file of a V2 checkpoint; without it the checkpoint has the classic name. */
  readonly v2Checkpoint?: JsonObject | undefined;
}

/** The version the hint names. A missing or damaged hint is no hint; a wrong one is found out by whoever follows it. */
export async function readCheckpointHint(store: ObjectStore, signal?: AbortSignal): Promise<Version | undefined> {
  try {
    const hint = parseJson(new TextDecoder().decode(await store.read(lastCheckpointPath, signal)), lastCheckpointPath);
    const version = isJsonObject(hint) ? hint['version'] : undefined;
    return typeof version === 'number' && Number.isSafeInteger(version) && version >= 0 ? toVersion(version) : undefined;
  } catch (error) {
    if (isServiceError(error, 'not-found', 'corrupt')) return undefined;
    throw error;
  }
}

/** The hint as stored, with the checksum readers hold it against. */
export function printLastCheckpoint(hint: LastCheckpoint): Uint8Array {
  const members: JsonObject = { ...hint };
  return new TextEncoder().encode(printJson({ ...members, checksum: jsonChecksum(members) }));
}
