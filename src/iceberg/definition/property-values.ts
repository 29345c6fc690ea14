import { AnalysisException } from '../../base/analysis-exception.ts';
import { parseJson } from '../../base/bigint-json.ts';
import { columnAt } from '../metadata/schema-fields.ts';
import type { IcebergSchema } from '../metadata/table-metadata.ts';

interface TypedProperty {
  /** The key, or how all keys of a family begin and end. */
  readonly key: RegExp;
  readonly accepts: (value: string) => boolean;
  readonly needs: string;
}

const whole = (key: RegExp): TypedProperty => ({ key, accepts: (value) => /^-?\d{1,18}$/.test(value), needs: 'a whole number' });
const positive = (key: RegExp): TypedProperty => ({
  key,
  accepts: (value) => /^0*[1-9]\d{0,17}$/.test(value),
  needs: 'a positive whole number',
});
const oneOf = (key: RegExp, ...values: readonly string[]): TypedProperty => ({
  key,
  accepts: (value) => values.includes(value.toLowerCase()),
  needs: `one of ${values.join(', ')}`,
});

/** Values that Iceberg parses when it writes or plans; truth values are whatever Java makes of a text. */
const typedProperties: readonly TypedProperty[] = [
  whole(/^commit\.(?:retry|status-check)\.(?:num-retries|min-wait-ms|max-wait-ms|total-timeout-ms)$/),
  whole(/^commit\.manifest\.(?:target-size-bytes|min-count-to-merge)$/),
  whole(/^history\.expire\.(?:max-snapshot-age-ms|max-ref-age-ms|min-snapshots-to-keep)$/),
  whole(/^write\.metadata\.(?:previous-versions-max|metrics\.max-inferred-column-defaults)$/),
  whole(/^write\.(?:delete\.)?target-file-size-bytes$/),
  whole(/^write\.(?:delete\.)?parquet\.(?:row-group-size-bytes|page-size-bytes|page-row-limit|dict-size-bytes|compression-level)$/),
  whole(/^write\.(?:delete\.)?parquet\.(?:row-group-check-(?:min|max)-record-count|bloom-filter-max-bytes)$/),
  whole(/^write\.(?:delete\.)?avro\.compression-level$/),
  whole(/^write\.summary\.partition-limit$/),
  positive(/^read\.split\.(?:target-size|metadata-target-size|planning-lookback)$/),
  whole(/^read\.split\.open-file-cost$/),
  oneOf(/^write\.(?:(?:delete|update|merge)\.)?distribution-mode$/, 'none', 'hash', 'range'),
  { key: /^schema\.name-mapping\.default$/, accepts: isList, needs: 'a name mapping in JSON' },
];

const columnMetrics = 'write.metadata.metrics.column.';

/**
 * Values that could not be read when they are needed are refused when they are given.
 *
 * @throws AnalysisException `ICEBERG_PROPERTY_INVALID`.
 */
export function checkPropertyValues(properties: Readonly<Record<string, string>>, schema: IcebergSchema | undefined): void {
  for (const [key, value] of Object.entries(properties)) {
    const typed = typedProperties.find((known) => known.key.test(key));
    if (typed?.accepts(value) === false) throw invalidValue(key, value, typed.needs);
    const column = key.startsWith(columnMetrics) ? key.slice(columnMetrics.length) : undefined;
    const unknown = column !== undefined && schema !== undefined && columnAt(schema, column.split('.')) === undefined;
    if (unknown) throw invalidValue(key, value, 'of a column of the table');
  }
}

function isList(text: string): boolean {
  try {
    return Array.isArray(parseJson(text, 'schema.name-mapping.default'));
  } catch {
    return false;
  }
}

function invalidValue(key: string, value: string, needs: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'ICEBERG_PROPERTY_INVALID',
    message: `table property "${key}" must be ${needs}, not "${value}"`,
    hint: 'Iceberg refuses the value when it writes or reads the table',
    parameters: { key, value },
  });
}
