import { AnalysisException } from '../../base/analysis-exception.ts';
import type { SessionConf } from './session-conf.ts';

/** A setting; -1 is no limit. @throws AnalysisException `INVALID_CONF_VALUE.TYPE_MISMATCH`. */
export function limitOf(conf: SessionConf, key: string, byDefault: number): number {
  const text = conf.find(key) ?? String(byDefault);
  if (/^\d{1,9}$/u.test(text)) return Number(text);
  if (text === '-1') return Number.MAX_SAFE_INTEGER;
  throw new AnalysisException({
    errorClass: 'INVALID_CONF_VALUE.TYPE_MISMATCH',
    message: `The value '${text}' in the config "${key}" is invalid. It should be a whole number, or -1 for no limit.`,
    parameters: { confName: key, confValue: text },
  });
}
