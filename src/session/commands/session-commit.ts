import type { CommitOptions } from '../../table/row-operations.ts';
import type { SessionConf } from '../conf/session-conf.ts';
import { invalidOption } from '../session-errors.ts';

const appIdKey = 'spark.databricks.delta.write.txnAppId';
const versionKey = 'spark.databricks.delta.write.txnVersion';

/** What a session adds to every commit: free text, the summary of snapshots, and its time zone. */
export function sessionNotes(conf: SessionConf): CommitOptions {
  const userMetadata = conf.find('spark.databricks.delta.commitInfo.userMetadata');
  return { userMetadata, summary: Object.fromEntries(conf.below('spark.sql.iceberg.snapshot-property.')), zone: conf.zone };
}

/**
 * As `sessionNotes`, with the mark by which rows that are written twice are kept once. With
 * `spark.databricks.delta.write.txnVersion.autoReset.enabled` the version is for one write.
 *
 * @throws AnalysisException `DELTA_ILLEGAL_OPTION` for half a mark.
 */
export function sessionCommit(conf: SessionConf): CommitOptions {
  const notes = sessionNotes(conf);
  const appId = conf.find(appIdKey);
  const version = conf.find(versionKey);
  // Once the version was taken back, the application's name alone asks for nothing.
  if (version === undefined) return notes;
  if (appId === undefined) throw invalidOption(appIdKey, '', `${appIdKey} and ${versionKey} must be set together`);
  const idempotency = { appId, version: markVersion(versionKey, version) };
  if (conf.switch('spark.databricks.delta.write.txnVersion.autoReset.enabled') === true) conf.unset(versionKey);
  return { ...notes, idempotency };
}

/** @throws AnalysisException `DELTA_ILLEGAL_OPTION`. */
export function markVersion(name: string, text: string): bigint {
  if (/^\d{1,19}$/.test(text)) return BigInt(text);
  throw invalidOption(name, text, 'it must be a whole number');
}
