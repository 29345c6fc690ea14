import { describe, expect, it } from 'vitest';
import type { PlannedColumn } from '../../../../src/config/migrate/sink-plan.ts';
import { parseColumnType, printColumnType } from '../../../../src/expr/parse/column-type.ts';
import { icebergSink, type Migrated } from './migrating.ts';

/** The columns of records in the tests. */
function columns(text: string): readonly PlannedColumn[] {
  const type = parseColumnType(`struct<${text}>`);
  return type.kind === 'struct' ? type.fields.map(({ name, type: of }) => ({ name, type: of })) : [];
}

const kafka = 'org.apache.kafka.connect.transforms';
const record = columns('id:long,name:string,amount:string,at:long,customer:struct<name:string,city:string>');

/** One transform after the other, by class and options. */
function chain(
  ...steps: readonly (readonly [className: string, options: Readonly<Record<string, string>>])[]
): Readonly<Record<string, string>> {
  const options = steps.flatMap(([className, given], index): readonly (readonly [string, string])[] => [
    [`transforms.t${index}.type`, className],
    ...Object.entries(given).map(([option, value]) => [`transforms.t${index}.${option}`, value] as const),
  ]);
  return { transforms: steps.map((_, index) => `t${index}`).join(','), ...Object.fromEntries(options) };
}

interface Outcome {
  readonly select?: readonly string[] | undefined;
  readonly where?: string | undefined;
  readonly table: readonly string[];
}

function outcome({ config }: Migrated): Outcome {
  const [route] = config.ingest.routes;
  const fields = config.tables[0]?.definition.schema.fields ?? [];
  return { select: route?.select, where: route?.where, table: fields.map(({ name, type }) => `${name} ${printColumnType(type)}`) };
}

const recordTypes = ['id long', 'name string', 'amount string', 'at long', 'customer struct<name:string,city:string>'];
const own = ['id', 'name', 'amount', 'at', 'customer'];

describe('a transform, where the columns of the records are known,', () => {
  it.each<[string, string, Record<string, string>, readonly string[], readonly string[]]>([
    [
      'ReplaceField',
      `${kafka}.ReplaceField$Value`,
      { exclude: 'amount,at,customer', renames: 'name:called' },
      ['id', 'name AS called'],
      ['id long', 'called string'],
    ],
    ['ReplaceField with include', `${kafka}.ReplaceField$Value`, { include: 'at,id' }, ['at', 'id'], ['at long', 'id long']],
    [
      'MaskField',
      `${kafka}.MaskField$Value`,
      { fields: 'name,id' },
      ["CAST('0' AS long) AS id", "'' AS name", ...own.slice(2)],
      recordTypes,
    ],
    [
      'MaskField with a replacement',
      `${kafka}.MaskField$Value`,
      { fields: 'name', replacement: "it's" },
      ['id', "'it\\'s' AS name", ...own.slice(2)],
      recordTypes,
    ],
    [
      'Cast',
      `${kafka}.Cast$Value`,
      { spec: 'amount:float64' },
      ['id', 'name', 'CAST(amount AS double) AS amount', 'at', 'customer'],
      ['id long', 'name string', 'amount double', ...recordTypes.slice(3)],
    ],
    [
      'ExtractField',
      `${kafka}.ExtractField$Value`,
      { field: 'customer' },
      ['customer.name AS name', 'customer.city AS city'],
      ['name string', 'city string'],
    ],
    [
      'HoistField',
      `${kafka}.HoistField$Value`,
      { field: 'row' },
      ["named_struct('id', id, 'name', name, 'amount', amount, 'at', at, 'customer', customer) AS row"],
      ['row struct<id:long,name:string,amount:string,at:long,customer:struct<name:string,city:string>>'],
    ],
    [
      'Flatten',
      `${kafka}.Flatten$Value`,
      { delimiter: '_' },
      [...own.slice(0, 4), 'customer.name AS customer_name', 'customer.city AS customer_city'],
      [...recordTypes.slice(0, 4), 'customer_name string', 'customer_city string'],
    ],
    [
      'TimestampConverter from a number',
      `${kafka}.TimestampConverter$Value`,
      { field: 'at', 'target.type': 'Timestamp' },
      ['id', 'name', 'amount', 'timestamp_millis(at) AS at', 'customer'],
      [...recordTypes.slice(0, 3), 'at timestamp', recordTypes[4] ?? ''],
    ],
    [
      'TimestampConverter from text',
      `${kafka}.TimestampConverter$Value`,
      { field: 'name', 'target.type': 'Date', format: 'dd.MM.yyyy' },
      ['id', "CAST(to_timestamp(name, 'dd.MM.yyyy') AS date) AS name", ...own.slice(2)],
      ['id long', 'name date', ...recordTypes.slice(2)],
    ],
    [
      'TimestampConverter to text',
      `${kafka}.TimestampConverter$Value`,
      { field: 'at', 'target.type': 'string', format: 'yyyy', 'unix.precision': 'seconds' },
      ['id', 'name', 'amount', "date_format(timestamp_seconds(at), 'yyyy') AS at", 'customer'],
      [...recordTypes.slice(0, 3), 'at string', recordTypes[4] ?? ''],
    ],
    [
      'InsertField of a constant',
      `${kafka}.InsertField$Value`,
      { 'static.field': 'region', 'static.value': 'eu' },
      [...own, "'eu' AS region"],
      [...recordTypes, 'region string'],
    ],
    [
      'CopyValue',
      'io.tabular.iceberg.connect.transforms.CopyValue',
      { 'source.field': 'id', 'target.field': 'copy' },
      [...own, 'id AS copy'],
      [...recordTypes, 'copy long'],
    ],
  ])('%s becomes a select list and the columns of the table', (_, className, options, select, table) => {
    expect(outcome(icebergSink(chain([className, options]), record))).toEqual({ select, where: undefined, table });
  });

  it('takes what the one before it made', () => {
    const steps = chain(
      [`${kafka}.ReplaceField$Value`, { renames: 'amount:price', exclude: 'customer,at' }],
      [`${kafka}.Cast$Value`, { spec: 'price:int64' }],
      [`${kafka}.InsertField$Value`, { 'topic.field': 'source!', 'offset.field': 'place' }],
    );
    expect(outcome(icebergSink(steps, record))).toEqual({
      select: ['id', 'name', 'CAST(amount AS long) AS price', 'source', 'place'],
      where: undefined,
      table: ['id long', 'name string', 'price long', 'source string', 'place long'],
    });
  });

  it.each([
    ['HasHeaderKey', { name: "a'b" }, '', "NOT coalesce(map_contains_key(kafka_headers, 'a\\'b'), false)"],
    ['TopicNameMatches', { pattern: 'orders[.]eu' }, 'true', "kafka_topic RLIKE '^(?:orders[.]eu)$'"],
  ])('Filter by %s becomes where', (predicate, options, negate, where) => {
    const filter = {
      ...chain([`${kafka}.Filter`, { predicate: 'p', negate }]),
      'predicates.p.type': `${kafka}.predicates.${predicate}`,
      ...Object.fromEntries(Object.entries(options).map(([option, value]) => [`predicates.p.${option}`, value])),
    };
    expect(outcome(icebergSink(filter, record))).toEqual({ select: own, where, table: recordTypes });
  });
});

describe('a transform, where the columns of the records are not known,', () => {
  it('is a comment to be taken in, and a reason to stand still', () => {
    const { yaml, config } = icebergSink(chain([`${kafka}.MaskField$Value`, { fields: 'card' }]));
    expect(yaml).toContain('# select:\n      #   - "* EXCEPT (card)"\n      #   - "\'\' AS card"\n');
    expect(yaml).toContain('what transforms do needs the columns of the records');
    expect(config.ingest.routes[0]).toMatchObject({ expect: [{ condition: '1 = 0', onFailure: 'suspend' }] });
  });

  it('fills columns from the record itself as it does where they are', () => {
    const { config } = icebergSink(chain([`${kafka}.InsertField$Value`, { 'topic.field': 'source', 'timestamp.field': 'at' }]));
    expect([...(config.tables[0]?.sources ?? [])]).toEqual([
      ['source', { kind: 'topic' }],
      ['at', { kind: 'timestamp' }],
    ]);
  });

  it('unwraps change events, and leaves out deletes as the transform does', () => {
    const steps = chain(['io.debezium.transforms.ExtractNewRecordState', { 'add.fields': 'op,source.ts_ms', 'drop.tombstones': 'true' }]);
    const { config, yaml } = icebergSink(steps);
    expect(config.ingest.routes[0]).toMatchObject({
      value: { kind: 'json', envelope: 'debezium' },
      where: 'NOT coalesce(__deleted, false)',
    });
    expect(outcome({ config, yaml, variables: [] }).table).toEqual(['__op string', '__source_ts_ms long', '__deleted boolean']);
    expect(icebergSink({ ...steps, 'transforms.t0.delete.handling.mode': 'rewrite' }).config.ingest.routes[0]?.where).toBeUndefined();
  });

  it('says which records without values are left out', () => {
    const steps = { ...chain([`${kafka}.Filter`, { predicate: 'p' }]), 'predicates.p.type': `${kafka}.predicates.RecordIsTombstone` };
    expect(icebergSink(steps).config.ingest.routes[0]?.value).toMatchObject({ tombstones: 'skip' });
  });
});

describe('a transform that is not translated', () => {
  it.each([
    [
      'an unknown class',
      chain(['com.example.Secret', { password: 'hush', other: '1' }]),
      /t0 \(com.example.Secret\): CHECK: not translated, this class is not known.*not looked at: password, other/,
    ],
    ['one with a predicate', chain([`${kafka}.MaskField$Value`, { fields: 'name', predicate: 'p' }]), /only where the predicate p says/],
    ['Flatten without columns', chain([`${kafka}.Flatten$Value`, {}]), /name the members of structs/],
    ['ExtractField without columns', chain([`${kafka}.ExtractField$Value`, { field: 'after' }]), /the row is what is in after/],
    ['TimestampRouter', chain([`${kafka}.TimestampRouter`, {}]), /partition by time instead/],
    [
      'a predicate of another kind',
      { ...chain([`${kafka}.Filter`, { predicate: 'p' }]), 'predicates.p.type': 'com.example.P' },
      /predicate com.example.P is not known/,
    ],
    [
      'change events of an encoding that has none',
      {
        ...chain(['io.debezium.transforms.ExtractNewRecordState', {}]),
        'value.converter': 'io.confluent.connect.protobuf.ProtobufConverter',
      },
      /read as json, connect-json or avro, not as protobuf/,
    ],
  ])('is told, and the route stands still: %s', (_, options, message) => {
    const { yaml, config } = icebergSink(options);
    expect(yaml).toMatch(message);
    expect(yaml).not.toContain('hush');
    expect(yaml).toContain('take expect out then: transform t0');
    expect(config.ingest.routes[0]?.expect).toHaveLength(1);
  });
});

it('a text that is the whole value is one column, called as HoistField says', () => {
  const converter = { 'value.converter': 'org.apache.kafka.connect.storage.StringConverter' };
  expect(outcome(icebergSink(converter)).table).toEqual(['value string']);
  expect(outcome(icebergSink({ ...converter, ...chain([`${kafka}.HoistField$Value`, { field: 'line' }]) })).table).toEqual(['line string']);
  expect(outcome(icebergSink({ ...converter, 'iceberg.tables.evolve-schema-enabled': 'true' })).table).toEqual(['value string']);
});
