import { AnalysisException, type AnalysisExceptionOptions } from './analysis-exception.ts';

/** `UNSUPPORTED_FEATURE`: what this version, or this kind of table, does not do, named. */
export function unsupported(feature: string, hint?: string): AnalysisException {
  return unsupportedFeature(`${feature} is not supported`, { hint, parameters: { feature } });
}

/** As `unsupported`, in words of its own. */
export function unsupportedFeature(
  message: string,
  options: Pick<AnalysisExceptionOptions, 'hint' | 'parameters' | 'cause'> = {},
): AnalysisException {
  return new AnalysisException({ errorClass: 'UNSUPPORTED_FEATURE', kind: 'unsupported', message, ...options });
}
