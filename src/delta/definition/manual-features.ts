import { AnalysisException } from '../../base/analysis-exception.ts';
import type { ProtocolAction } from '../actions.ts';
import { type FeatureUse, featuresUsedBy } from '../feature-catalogue.ts';
import { supportedFeatures } from '../protocol-for.ts';

/** Features that a table which is there does not gain by the way: its readers would be locked out by a mere column. */
const manual: ReadonlySet<string> = new Set(['timestampNtz']);

/**
 * Refuses a definition that needs such a feature, unless the table has it or it was asked for by name.
 *
 * @throws AnalysisException `DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT` (22000).
 */
export function checkManualFeatures(current: ProtocolAction, use: FeatureUse, asked: readonly string[]): void {
  const supported = supportedFeatures(current);
  const missing = featuresUsedBy(use).filter((name) => manual.has(name) && !supported.includes(name) && !asked.includes(name));
  if (missing.length === 0) return;
  throw new AnalysisException({
    errorClass: 'DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT',
    sqlState: '22000',
    message:
      `Your table schema requires manually enablement of the following table feature(s): ${missing.join(', ')}. To do this, run the following ` +
      "command for each of features listed above: ALTER TABLE table_name SET TBLPROPERTIES ('delta.feature.feature_name' = 'supported'). " +
      `Current supported feature(s): ${supported.join(', ')}.`,
    parameters: { unsupportedFeatures: missing.join(', '), supportedFeatures: supported.join(', ') },
    hint: missing.map((name) => `set 'delta.feature.${name}' = 'supported'`).join('; '),
  });
}
