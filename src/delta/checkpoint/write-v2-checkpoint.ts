import { type JsonObject, printJson } from '../../base/bigint-json.ts';
import { bodyOf } from '../action-json.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { LastCheckpoint } from '../log/last-checkpoint.ts';
import { logFolder, sidecarFolder, v2CheckpointPath } from '../log/log-names.ts';
import { fileActions, fileRows, stateActions } from './checkpoint-rows.ts';
import { fileColumns, struct } from './checkpoint-schema.ts';
import type { CheckpointTarget } from './checkpoint-target.ts';

/** File actions of one sidecar. */
const sidecarRows = 50_000;
/** Actions and sidecars that the hint repeats at most; beyond it readers open the checkpoint for them. */
const maxHinted = 30;

/**
 * Writes a V2 checkpoint: sidecars with the files first, then the file that names them, under a name of its own. Until that one is there
 * nothing refers to the sidecars; log cleanup takes them after a day.
 */
export async function writeV2Checkpoint(
  target: CheckpointTarget,
  snapshot: DeltaSnapshot,
  options: { readonly nowMs: number },
  signal?: AbortSignal,
): Promise<LastCheckpoint> {
  const { version, fileCount } = snapshot;
  const sidecars = await writeSidecars(target, snapshot, options.nowMs, signal);
  const sidecarBytes = sidecars.reduce((sum, sidecar) => sum + sidecar.sizeInBytes, 0);
  const fileRowCount = sidecars.reduce((sum, sidecar) => sum + sidecar.rowCount, 0);
  const tags = { sidecarNumActions: String(fileRowCount), sidecarSizeInBytes: String(sidecarBytes), numOfAddFiles: String(fileCount) };
  const state: readonly JsonObject[] = [
    { checkpointMetadata: { version, tags } },
    ...stateActions(snapshot, options.nowMs).map((action) => ({ [action.kind]: bodyOf(action) })),
  ];
  const references = sidecars.map(({ path, sizeInBytes, modificationTime }) => ({ path, sizeInBytes, modificationTime }));
  const lines = [...state, ...references.map((sidecar) => ({ sidecar }))];
  const bytes = new TextEncoder().encode(lines.map((line) => `${printJson(line)}\n`).join(''));
  const path = v2CheckpointPath(version, target.ids.uuid());
  await target.store.put(path, bytes, signal);
  const modificationTime = (await target.store.head(path, signal))?.modifiedMs ?? options.nowMs;
  return {
    version,
    size: lines.length + fileRowCount,
    sizeInBytes: bytes.byteLength + sidecarBytes,
    numOfAddFiles: fileCount,
    v2Checkpoint: {
      path: path.slice(logFolder.length),
      sizeInBytes: bytes.byteLength,
      modificationTime,
      nonFileActions: state.length <= maxHinted ? state : undefined,
      sidecarFiles: references.length <= maxHinted ? references : undefined,
    },
  };
}

interface WrittenSidecar {
  /** Inside the sidecar folder. */
  readonly path: string;
  readonly sizeInBytes: number;
  readonly modificationTime: number;
  readonly rowCount: number;
}

async function writeSidecars(
  target: CheckpointTarget,
  snapshot: DeltaSnapshot,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<readonly WrittenSidecar[]> {
  const files = fileActions(snapshot, nowMs);
  const schema = struct(fileColumns(snapshot));
  const toRow = fileRows(snapshot);
  const written: WrittenSidecar[] = [];
  for (let from = 0; from < files.length; from += sidecarRows) {
    const rows = files.slice(from, from + sidecarRows).map(toRow);
    const bytes = await target.codec.write(schema, rows);
    const path = `${target.ids.uuid()}.parquet`;
    await target.store.put(`${sidecarFolder}${path}`, bytes, signal);
    const modificationTime = (await target.store.head(`${sidecarFolder}${path}`, signal))?.modifiedMs ?? nowMs;
    written.push({ path, sizeInBytes: bytes.byteLength, modificationTime, rowCount: rows.length });
  }
  return written;
}
