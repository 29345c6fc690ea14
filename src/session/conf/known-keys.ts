import { AnalysisException } from '../../base/analysis-exception.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { type ConfValueKind, keySpaces, prefixedKeys } from './key-tables.ts';
import { unlikeSettled } from './settled-values.ts';

/** What says where a session may go is said by who makes it, not by the statements it runs. */
const fixedKeys: ReadonlySet<string> = new Set([
  'spark.databricks.delta.allowedLocations',
  'tidewater.iceberg.allowedLocations',
  'tidewater.files.allowedLocations',
]);

/** @throws AnalysisException `CANNOT_MODIFY_STATIC_CONFIG` for a key whose value is fixed when the session is made. */
export function checkChangeable(key: string): void {
  if (!fixedKeys.has(canonicalKey(key))) return;
  throw new AnalysisException({
    errorClass: 'CANNOT_MODIFY_STATIC_CONFIG',
    message: `Cannot modify the value of the static Spark config: "${key}".`,
    hint: 'give it when the session is made',
    parameters: { key },
  });
}

/** The one spelling under which a key is kept: `tidewater.sql.…` and `tidewater.delta.…` stand for Spark's keys. */
export function canonicalKey(key: string): string {
  if (key.startsWith('tidewater.sql.')) return `spark.${key.slice('tidewater.'.length)}`;
  if (key.startsWith('tidewater.delta.')) return `spark.databricks.delta.${key.slice('tidewater.delta.'.length)}`;
  if (key.startsWith('tidewater.databricks.delta.')) return `spark.${key.slice('tidewater.'.length)}`;
  return key;
}

/**
 * Refuses what cannot be meant: an unknown key below `spark.databricks.delta.`, `spark.sql.iceberg.` or `tidewater.`, a value of the wrong
 * kind, or one that would change results and does not here. Other keys of Spark are taken as they are, for programs that set them, and have
 * no effect.
 *
 * @throws AnalysisException `UNKNOWN_CONFIGURATION_KEY` with the nearest key, `INVALID_CONF_VALUE.TYPE_MISMATCH`, `UNSUPPORTED_FEATURE`.
 */
export function checkConfEntry(key: string, value: string): void {
  const canonical = canonicalKey(key);
  const kind = kindOf(canonical);
  if (kind === undefined) throw unknownKey(key);
  const unlike = unlikeSettled(canonical, value);
  if (unlike !== undefined) throw unlike;
  const problem = expectation(kind, value);
  if (problem === undefined) return;
  throw new AnalysisException({
    errorClass: 'INVALID_CONF_VALUE.TYPE_MISMATCH',
    message: `The value '${value}' in the config "${key}" is invalid. It should be ${problem}.`,
    parameters: { confName: key, confValue: value, expected: problem },
  });
}

function kindOf(key: string): ConfValueKind | undefined {
  if (prefixedKeys.some((prefix) => key.startsWith(prefix))) return 'text';
  for (const { prefix, keys } of keySpaces) if (key.startsWith(prefix)) return keys[key.slice(prefix.length)]?.kind;
  return 'text';
}

function expectation(kind: ConfValueKind, value: string): string | undefined {
  switch (kind) {
    case 'boolean':
      return /^(true|false)$/i.test(value) ? undefined : 'true or false';
    case 'tri-state':
      return /^(true|false|auto|legacy)$/i.test(value) ? undefined : 'true, false or auto';
    case 'integer':
      return /^\d{1,9}$/.test(value) ? undefined : 'a whole number';
    case 'bytes':
      return /^\d+(\.\d+)?\s*([kmgt]i?)?b?$/i.test(value) ? undefined : 'a size such as 512mb';
    case 'text':
      return undefined;
  }
}

function unknownKey(key: string): AnalysisException {
  const known = keySpaces.flatMap(({ prefix, keys }) => Object.keys(keys).map((name) => prefix + name));
  const nearest = nearestName(key, known);
  return new AnalysisException({
    errorClass: 'UNKNOWN_CONFIGURATION_KEY',
    message: `configuration key "${key}" is unknown`,
    hint: nearest === undefined ? 'see the reference of the session for its keys' : `did you mean "${nearest}"?`,
    parameters: { key },
  });
}
