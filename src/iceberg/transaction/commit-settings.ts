import { AnalysisException } from '../../base/analysis-exception.ts';
import type { RetrySettings } from '../../table/commit-driver.ts';

type Properties = Readonly<Record<string, string>>;

/** `commit.retry.*` */
export function commitRetry(properties: Properties): RetrySettings {
  return retrySettings(properties, 'commit.retry', { retries: 4, initialMs: 100 });
}

/** `commit.status-check.*`: how a commit whose outcome is unknown is looked for. */
export function statusCheck(properties: Properties): RetrySettings {
  return retrySettings(properties, 'commit.status-check', { retries: 3, initialMs: 1_000 });
}

/** How manifests are put together. */
export interface ManifestSettings {
  readonly merge: boolean;
  readonly targetBytes: number;
  /** Manifests there must be before those of a commit's own are merged. */
  readonly minCountToMerge: number;
}

/** `commit.manifest.*` and `commit.manifest-merge.enabled` */
export function manifestSettings(properties: Properties): ManifestSettings {
  return {
    merge: (properties['commit.manifest-merge.enabled'] ?? 'true').toLowerCase() === 'true',
    targetBytes: wholeNumber(properties, 'commit.manifest.target-size-bytes', 8 * 1024 * 1024),
    minCountToMerge: wholeNumber(properties, 'commit.manifest.min-count-to-merge', 100),
  };
}

/** `write.summary.partition-limit`: a snapshot that changes more partitions than this does not list them. */
export function partitionSummaryLimit(properties: Properties): number {
  return wholeNumber(properties, 'write.summary.partition-limit', 0);
}

/** Where metadata files of the table go. */
export function metadataFolder(location: string, properties: Properties): string {
  return (properties['write.metadata.path'] ?? `${location.replace(/\/+$/, '')}/metadata`).replace(/\/+$/, '');
}

/** No table needs more tries than this, whatever its properties say. */
const maxRetries = 10_000;

function retrySettings(
  properties: Properties,
  prefix: string,
  defaults: { readonly retries: number; readonly initialMs: number },
): RetrySettings {
  return {
    retries: Math.min(maxRetries, wholeNumber(properties, `${prefix}.num-retries`, defaults.retries)),
    backoff: {
      initialMs: wholeNumber(properties, `${prefix}.min-wait-ms`, defaults.initialMs),
      maxMs: wholeNumber(properties, `${prefix}.max-wait-ms`, 60_000),
    },
    totalMs: wholeNumber(properties, `${prefix}.total-timeout-ms`, 1_800_000),
  };
}

function wholeNumber(properties: Properties, key: string, otherwise: number): number {
  const text = properties[key];
  if (text === undefined) return otherwise;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new AnalysisException({
    errorClass: 'ICEBERG_PROPERTY_INVALID',
    message: `table property "${key}" must be a whole number, not "${text}"`,
    hint: `ALTER TABLE … SET TBLPROPERTIES ('${key}' = '${otherwise}')`,
    parameters: { key, value: text },
  });
}
