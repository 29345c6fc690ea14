import { AnalysisException } from '../../base/analysis-exception.ts';
import type { ReadPoint, TableReference, TableSource } from '../plan/plan.ts';

const versionSuffix = /^(.+)@v(\d{1,15})$/i;
const timeSuffix = /^(.+)@(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{3})$/;

/**
 * A table at the point that is asked for, or that its path names.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS` for both.
 */
export function tableAt(reference: TableReference, asked: ReadPoint | undefined): Pick<TableSource, 'reference' | 'at'> {
  if (reference.kind !== 'path') return { reference, at: asked };
  const { path, at } = splitPathVersion(reference.path);
  if (at !== undefined && asked !== undefined) {
    throw new AnalysisException({
      errorClass: 'DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS',
      sqlState: '42613',
      message: 'Cannot specify time travel in multiple formats.',
      hint: 'give the version in the path, or beside it',
    });
  }
  return { reference: { ...reference, path }, at: at ?? asked };
}

/** A path that may name a version: `/t@v3`, or `/t@20240229100000000` for a time in UTC. */
function splitPathVersion(path: string): { readonly path: string; readonly at: ReadPoint | undefined } {
  const version = versionSuffix.exec(path);
  if (version !== null) return { path: version[1] ?? path, at: { kind: 'version', version: BigInt(version[2] ?? '') } };
  const time = timeSuffix.exec(path);
  if (time === null) return { path, at: undefined };
  const [, base = path, year = '', month = '', day = '', hour = '', minute = '', second = '', millis = ''] = time;
  const text = `${year}-${month}-${day} ${hour}:${minute}:${second}.${millis}`;
  const at = Date.parse(`${text.replace(' ', 'T')}Z`);
  return Number.isNaN(at) ? { path, at: undefined } : { path: base, at: { kind: 'timestamp', micros: BigInt(at) * 1000n, text } };
}
