import type { MetricDescription } from '../../src/observability/instruments.ts';

/** `docs/reference/metrics.md`. */
export function metricsReferenceMarkdown(catalogue: readonly MetricDescription[]): string {
  const rows = catalogue.map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`);
  return `${[
    '# Metrics',
    '',
    'Served at `/metrics` in Prometheus’ text format, besides the usual `process_*` and `nodejs_*` ones. Every series also has the label `pipeline`.',
    'Times are seconds, sizes bytes. Made from the registry; do not edit.',
    '',
    'The balance holds for each table at any time:',
    '',
    '```',
    'sum by (table) (tidewater_ingest_records_consumed_total)',
    '  = sum by (table) (tidewater_ingest_records_committed_total)',
    '  + sum by (table) (tidewater_ingest_records_dead_lettered_total)',
    '  + sum by (table) (tidewater_ingest_records_filtered_total)',
    '  + sum by (table) (tidewater_ingest_records_in_flight)',
    '```',
    '',
    '| Metric | Type | Labels | Meaning |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n')}\n`;
}
