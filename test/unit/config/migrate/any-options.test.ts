import { expect, it } from 'vitest';
import { ServiceError } from '../../../../src/base/errors.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { migrate } from './migrating.ts';

/* Whatever options have for values: what is printed is YAML of the known settings, with references where they are meant, or the input is refused. */

const options = [
  'iceberg.tables',
  'iceberg.tables.route-field',
  'iceberg.table.a.b.route-regex',
  'iceberg.table.a.b.id-columns',
  'iceberg.table.a.b.partition-by',
  'iceberg.tables.auto-create-props.x',
  'iceberg.catalog',
  'iceberg.catalog.warehouse',
  'iceberg.catalog.s3.endpoint',
  'iceberg.control.commit.interval-ms',
  'value.converter',
  'errors.deadletterqueue.topic.name',
  'consumer.override.client.id',
  'consumer.override.session.timeout.ms',
  'topics.regex',
  'transforms.t.type',
  'transforms.t.field',
  'transforms.t.fields',
  'transforms.t.topic.field',
  'transforms.t.static.field',
  'transforms.t.static.value',
  'transforms.t.renames',
  'unknown.option',
];
const kafka = 'org.apache.kafka.connect.transforms';
const texts = [
  '',
  'true',
  'a',
  'a.b,c.d',
  'it\'s ${x} "q"',
  '${env:FOO}',
  '${file:/a:b}',
  '$${',
  '\n# x: y\n- z',
  'day(ts)',
  'null',
  '-5',
  'é ü',
  '\u2028{}[]&*!|>%@`',
  'a:b',
  `${kafka}.MaskField$Value`,
  `${kafka}.InsertField$Value`,
  `${kafka}.ReplaceField$Value`,
];
/** A value that no setting could have is told by the setting. */
const ofValues = new Set(['CONFIG_INVALID', 'CONFIG_CONNECTOR_INVALID']);

it.each([1, 2, 3])('seed %i', (seed) => {
  const random = new SeededRandom(seed);
  const pick = (from: readonly string[]): string => from[Math.floor(random.next() * from.length)] ?? '';
  for (let run = 0; run < 40; run += 1) {
    const chosen = Array.from({ length: 5 }, () => [pick(options), pick(texts)]);
    const config = {
      'connector.class': 'org.apache.iceberg.connect.IcebergSinkConnector',
      topics: 'a,b',
      'iceberg.tables': 'a.b',
      'iceberg.catalog.type': 'rest',
      'iceberg.catalog.uri': 'https://rest',
      transforms: 't',
      ...Object.fromEntries(chosen.map(([option = '', text = '']) => [option, text])),
    };
    try {
      expect(migrate(JSON.stringify({ name: pick(texts), config })).config.tables.length).toBeGreaterThan(0);
    } catch (error) {
      if (!(error instanceof ServiceError) || !ofValues.has(error.code)) throw error;
    }
  }
});
