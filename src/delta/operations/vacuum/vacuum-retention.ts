import { AnalysisException } from '../../../base/analysis-exception.ts';
import type { VacuumOptions } from '../../../table/operations.ts';

const msPerHour = 3_600_000;

/**
 * How long removed files stay, in milliseconds: what was asked for, else the table's own.
 *
 * @throws AnalysisException `DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE` for less than no hours, `DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT` below
 * the table's retention without `allowShortRetention`.
 */
export function vacuumRetentionMs(
  tableRetentionMs: number,
  options: Pick<VacuumOptions, 'retentionHours' | 'allowShortRetention' | 'dryRun'>,
  table: string,
): number {
  const hours = options.retentionHours;
  if (hours === undefined) return tableRetentionMs;
  if (!Number.isFinite(hours) || hours < 0) {
    throw new AnalysisException({
      errorClass: 'DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE',
      parameters: { retentionHours: String(hours) },
      message: "Retention period for Vacuum can't be less than 0 hours.",
      hint: 'give a number of hours from 0 up',
      context: { table },
    });
  }
  const retentionMs = hours * msPerHour;
  // Nothing is deleted of what a dry run lists; of 0 hours Spark does not even list.
  const isAllowed = options.allowShortRetention === true || (options.dryRun && hours > 0);
  if (retentionMs < tableRetentionMs && !isAllowed) throw tooShort(tableRetentionMs / msPerHour, table);
  return retentionMs;
}

function tooShort(configuredHours: number, table: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT',
    parameters: { configuredRetentionHours: String(configuredHours) },
    message: [
      'The specified VACUUM retention period is too low and may corrupt this Delta table if any writes are in progress.',
      '',
      'If no operations (insert, upsert, delete, optimize) are running, you can disable this safety check by setting:',
      'delta.retentionDurationCheck.enabled = false',
      '',
      `Otherwise, use a retention period of at least ${configuredHours} hours.`,
    ].join('\n'),
    hint: 'writers in flight, readers and feeds may still need the files: set "delta.deletedFileRetentionDuration", or allow a short retention when nothing uses the table',
    context: { table },
  });
}
