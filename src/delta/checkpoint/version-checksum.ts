import { printJson } from '../../base/bigint-json.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { bodyOf } from '../action-json.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { checksumPath } from '../log/log-names.ts';

/** Marks and domains repeated at most: readers replay the log for more. */
const maxRepeated = 100;

/** Writes what the state of a version must add up to, unless somebody did. Never replaces one. */
export async function writeVersionChecksum(store: ObjectStore, snapshot: DeltaSnapshot, signal?: AbortSignal): Promise<void> {
  const txns = [...snapshot.txns()];
  const domains = [...snapshot.domains()];
  const text = printJson({
    tableSizeBytes: snapshot.sizeBytes,
    numFiles: snapshot.fileCount,
    numMetadata: 1,
    numProtocol: 1,
    inCommitTimestampOpt: snapshot.settings.inCommitTimestamps ? snapshot.committedAt : undefined,
    setTransactions: txns.length <= maxRepeated ? txns.map(bodyOf) : undefined,
    domainMetadata: domains.length <= maxRepeated ? domains.map(bodyOf) : undefined,
    metadata: bodyOf(snapshot.metadata),
    protocol: bodyOf(snapshot.protocol),
  });
  await store.putIfAbsent(checksumPath(snapshot.version), new TextEncoder().encode(text), signal);
}
