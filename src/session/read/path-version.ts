import { AnalysisException } from '../../base/analysis-exception.ts';
import { parseInstantText } from '../../expr/parse/temporal-text.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';
import type { ReadPoint, TableReference, TableSource } from '../plan/plan.ts';

const versionSuffix = /^(.+)@v(\d{1,15})$/i;
const timeSuffix = /^(.+)@(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{3})$/;

/**
 * A table at the point that is asked for, or that its path names.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS` for both.
 */
export function tableAt(
  reference: TableReference,
  asked: ReadPoint | undefined,
  zone: ZoneRule,
): Pick<TableSource, 'reference' | 'at' | 'whole'> {
  if (reference.kind !== 'path') return { reference, at: asked };
  const { path, at } = splitPathVersion(reference.path, zone);
  if (at !== undefined && asked !== undefined) {
    throw new AnalysisException({
      errorClass: 'DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS',
      message: 'Cannot specify time travel in multiple formats.',
      hint: 'give the version in the path, or beside it',
    });
  }
  return { reference: { ...reference, path }, at: at ?? asked, ...(at === undefined ? {} : { whole: reference }) };
}

/** A path that may name a version: `/t@v3`, or `/t@20240229100000000` for a local time. */
function splitPathVersion(path: string, zone: ZoneRule): { readonly path: string; readonly at: ReadPoint | undefined } {
  const version = versionSuffix.exec(path);
  if (version !== null) return { path: version[1] ?? path, at: { kind: 'version', version: BigInt(version[2] ?? '') } };
  const time = timeSuffix.exec(path);
  if (time === null) return { path, at: undefined };
  const [, base = path, year = '', month = '', day = '', hour = '', minute = '', second = '', millis = ''] = time;
  const text = `${year}-${month}-${day} ${hour}:${minute}:${second}.${millis}`;
  const micros = parseInstantText(text, zone);
  return micros === undefined ? { path, at: undefined } : { path: base, at: { kind: 'timestamp', micros, text } };
}
