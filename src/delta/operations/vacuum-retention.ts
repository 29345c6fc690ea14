import { ServiceError } from '../../base/errors.ts';
import type { VacuumOptions } from '../../table/operations.ts';

const msPerHour = 3_600_000;

/**
 * How long removed files stay, in milliseconds: what was asked for, else the table's own.
 *
 * @throws ServiceError `VACUUM_RETENTION_INVALID` for a negative or not finite number of hours, `VACUUM_RETENTION_TOO_SHORT` below the
 * table's retention without `allowShortRetention` (both kind invalid).
 */
export function vacuumRetentionMs(
  tableRetentionMs: number,
  options: Pick<VacuumOptions, 'retentionHours' | 'allowShortRetention'>,
  table: string,
): number {
  const hours = options.retentionHours;
  if (hours === undefined) return tableRetentionMs;
  if (!Number.isFinite(hours) || hours < 0) {
    throw new ServiceError({
      code: 'VACUUM_RETENTION_INVALID',
      kind: 'invalid',
      message: `table "${table}": cannot retain ${hours} hours`,
      hint: 'give a number of hours from 0 up',
    });
  }
  const retentionMs = hours * msPerHour;
  if (retentionMs < tableRetentionMs && options.allowShortRetention !== true) {
    throw new ServiceError({
      code: 'VACUUM_RETENTION_TOO_SHORT',
      kind: 'invalid',
      message: `table "${table}": retaining ${hours} hours is less than the table's ${tableRetentionMs / msPerHour} hours`,
      hint: 'writers in flight, readers and feeds may still need the files: set "delta.deletedFileRetentionDuration", or allow a short retention when nothing uses the table',
    });
  }
  return retentionMs;
}
