import { AnalysisException } from '../../base/analysis-exception.ts';

/** An argument that cannot be, in the words of the reference implementation (`IllegalArgumentException` there). */
export function illegalArgument(message: string, hint?: string): AnalysisException {
  return new AnalysisException({ errorClass: 'INVALID_ARGUMENT', alias: 'IllegalArgumentException', message, hint });
}

/** Something the table's state does not allow, whoever tries again (`ValidationException` there). */
export function refusedOperation(message: string, hint?: string): AnalysisException {
  return new AnalysisException({ errorClass: 'VALIDATION_FAILED', alias: 'ValidationException', message, hint });
}

/** Whether files of the table may be deleted: others may have the same ones. */
export function hasGc(properties: Readonly<Record<string, string>>): boolean {
  return (properties['gc.enabled'] ?? 'true').toLowerCase() === 'true';
}

export function refuseWithoutGc(properties: Readonly<Record<string, string>>, what: string): void {
  if (hasGc(properties)) return;
  throw refusedOperation(
    `Cannot ${what}: GC is disabled (deleting files may corrupt other tables)`,
    "ALTER TABLE … SET TBLPROPERTIES ('gc.enabled' = 'true'), when no other table refers to its files",
  );
}
