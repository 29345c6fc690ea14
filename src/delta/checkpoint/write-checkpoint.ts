import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { type LastCheckpoint, printLastCheckpoint, readCheckpointHint } from '../log/last-checkpoint.ts';
import { checkpointPath, lastCheckpointPath } from '../log/log-names.ts';
import { fileActions, fileRows, rowOf, stateActions } from './checkpoint-rows.ts';
import { checkpointSchema } from './checkpoint-schema.ts';
import type { CheckpointTarget } from './checkpoint-target.ts';
import { putPlain } from './put-plain.ts';
import { writeV2Checkpoint } from './write-v2-checkpoint.ts';

/**
 * Writes the checkpoint of a snapshot in the form its table asks for (`delta.checkpointPolicy`), and then the hint if it names an older one.
 * Writing it twice is harmless. Removed files whose retention ended before `now` are left out, and progress marks past the retention the table
 * sets for them.
 */
export async function writeCheckpoint(
  target: CheckpointTarget,
  snapshot: DeltaSnapshot,
  options: { readonly nowMs: number },
  signal?: AbortSignal,
): Promise<void> {
  const { store } = target;
  const v2 = snapshot.settings.checkpointPolicy === 'v2' && snapshot.protocol.writerFeatures?.includes('v2Checkpoint') === true;
  const write = v2 ? writeV2Checkpoint : writeClassicCheckpoint;
  const written = await write(target, snapshot, options, signal);
  const hinted = await readCheckpointHint(store, signal);
  if (hinted !== undefined && hinted >= snapshot.version) return;
  await putPlain(store, lastCheckpointPath, printLastCheckpoint(written), signal);
}

async function writeClassicCheckpoint(
  target: CheckpointTarget,
  snapshot: DeltaSnapshot,
  options: { readonly nowMs: number },
  signal: AbortSignal | undefined,
): Promise<LastCheckpoint> {
  const files = fileActions(snapshot, options.nowMs);
  const rows = [...stateActions(snapshot, options.nowMs).map(rowOf), ...files.map(fileRows(snapshot))];
  const bytes = await target.codec.write(checkpointSchema(snapshot), rows);
  await putPlain(target.store, checkpointPath(snapshot.version), bytes, signal);
  return { version: snapshot.version, size: rows.length, sizeInBytes: bytes.byteLength, numOfAddFiles: snapshot.fileCount };
}
