import { AnalysisException } from '../../base/analysis-exception.ts';
import type { FileScan } from '../../table/scan.ts';
import type { AddFile, CdcFile, RemoveFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/** How the engine reads `files` as rows of the snapshot's schema. */
export function fileScanOf(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  files: readonly (AddFile | RemoveFile | CdcFile)[],
): FileScan {
  void snapshot;
  void files;
  throw new AnalysisException({ errorClass: 'UNSUPPORTED', message: `table "${context.name}"` });
}
