import { describe, expect, it } from 'vitest';
import { madeTable } from '../../../src/config/made-table.ts';
import { load, loadError } from './config-support.ts';

const yamlOf = (route: string): string => `
pipeline: demo
kafka: { brokers: [k1:9092] }
tables:
  - { name: orders, columns: [{ name: id, type: long }, { name: at, type: timestamp, from: timestamp }] }
  - { name: payments, columns: [{ name: id, type: long }, { name: upper, type: string }] }
  - { name: rest, columns: [{ name: id, type: long }] }
ingest:
  routes:
    - topics: [other]
      table: rest
    - topics: [events]
${route}
`;

const issuesOf = (route: string): string => {
  const error = loadError({ yaml: yamlOf(route) });
  return `${error.message} ${error.hint ?? ''}`;
};

describe('a divided route', () => {
  it('is a route for each of its tables, which know of each other', () => {
    const { config } = load({
      yaml: yamlOf(`
      value: { tombstones: skip }
      divide:
        member: meta.type
        unmatched: skip
        tables:
          - { table: orders, values: order }
          - { table: payments, pattern: "pay.*", select: [id, "upper('x') AS upper"], where: id > 0 }
`),
    });
    const [other, orders, payments] = config.ingest.routes;
    const spec = {
      key: { kind: 'member', path: ['meta', 'type'], type: 'string' },
      value: { kind: 'json', framed: false, tombstones: 'skip' },
      parts: [
        { table: 'orders', values: ['order'], pattern: undefined },
        { table: 'payments', values: [], pattern: 'pay.*' },
      ],
      unmatched: 'skip',
    };
    expect(other).toMatchObject({ table: 'rest', topics: ['other'], at: ['routes', 0] });
    expect(other?.divided).toBeUndefined();
    expect(orders).toMatchObject({ table: 'orders', topics: ['events'], divided: { index: 0 } });
    expect(orders?.select).toBeUndefined();
    expect(payments).toMatchObject({
      table: 'payments',
      where: 'id > 0',
      divided: { spec, index: 1 },
      at: ['routes', 1, 'divide', 'tables', 1],
    });
    expect(payments?.divided?.spec).toBe(orders?.divided?.spec);
  });

  it.each([
    ['type', ['type']],
    ['meta.`event.type`', ['meta', 'event.type']],
    ['`a.b`.c', ['a.b', 'c']],
  ])('finds member %s', (member, path) => {
    const { config } = load({ yaml: yamlOf(`      divide: { member: "${member}", tables: [{ table: orders, values: [x] }] }`) });
    expect(config.ingest.routes[1]?.divided?.spec.key).toEqual({ kind: 'member', path, type: 'string' });
  });

  it('with a template has the table that others are made like as its last part', () => {
    const { config } = load({ yaml: yamlOf(`      divide: { by: topic, template: { table: "raw_{key}", like: orders, where: id > 0 } }`) });
    expect(config.ingest.routes[1]).toMatchObject({
      table: 'orders',
      where: 'id > 0',
      at: ['routes', 1, 'divide', 'template'],
      divided: { index: 0, spec: { key: { kind: 'topic' }, template: { table: 'raw_{key}', like: 'orders', max: 50 } } },
    });
    const made = madeTable(config, 'raw_a')?.settings;
    expect(made?.name).toBe('raw_a');
    expect(made?.location).toMatch(/\/tables\/raw_a$/);
    expect([madeTable(config, 'orders'), madeTable(config, 'other')]).toEqual([undefined, undefined]);
  });

  it('makes no tables like one that has a row for each key', () => {
    const yaml = yamlOf(`      divide: { by: topic, template: { table: "raw_{key}", like: orders } }`);
    const keyed = yaml.replace(
      'orders, columns: [{ name: id, type: long }',
      'orders, mode: upsert, keyColumns: [id], columns: [{ name: id, type: long, nullable: false }',
    );
    expect(loadError({ yaml: keyed }).message).toContain('tables[0].mode: tables that a template makes are of mode append');
  });

  const tables = 'tables: [{ table: orders, values: [order] }, { table: payments, values: [payment] }]';
  it.each([
    ['both a table and a division', `      table: orders\n      divide: { member: type, ${tables} }`, 'must have one of table, and divide'],
    ['neither', '      value: {}', 'must have one of table, and divide'],
    ['no key', `      divide: { ${tables} }`, 'must have one of member, header and by'],
    ['two keys', `      divide: { member: a, header: b, ${tables} }`, 'must have one of member, header and by'],
    ['a path that is none', `      divide: { member: a..b, ${tables} }`, 'is no name of a member'],
    ['a type without schemas', `      divide: { by: record-type, ${tables} }`, 'values of this encoding name no schema'],
    ['a table without keys', '      divide: { member: a, tables: [{ table: orders }] }', 'must have at least one of values, or a pattern'],
    ['a pattern that explodes', '      divide: { member: a, tables: [{ table: orders, pattern: "(a|aa)+" }] }', 'repeats what repeats'],
    ['a damaged pattern', '      divide: { member: a, tables: [{ table: orders, pattern: "(" }] }', 'is no regular expression'],
    ['an unknown table', '      divide: { member: a, tables: [{ table: nobody, values: [x] }] }', 'no table is called "nobody"'],
    ['a table with a route', '      divide: { member: a, tables: [{ table: rest, values: [x] }] }', 'table "rest" has a route already'],
    [
      'a table twice',
      '      divide: { member: a, tables: [{ table: orders, values: [x] }, { table: orders, values: [y] }] }',
      'table "orders" has a route already',
    ],
    ['neither tables nor a template', '      divide: { member: a }', 'divide.tables: is required'],
    ['a template without its key', '      divide: { member: a, template: { table: raw, like: orders } }', 'must have {key} in it once'],
    [
      'a template that makes paths',
      '      divide: { member: a, template: { table: "../{key}", like: orders } }',
      'must have {key} in it once',
    ],
    [
      'a template like nothing',
      '      divide: { member: a, template: { table: "{key}", like: nobody } }',
      'divide.template.like: no table is called "nobody"',
    ],
    [
      'two templates that may make one name',
      '      divide: { member: a, template: { table: "a_{key}", like: orders } }\n    - topics: [more]\n      divide: { member: a, template: { table: "{key}", like: payments } }',
      'may make the same names as "a_{key}"',
    ],
    [
      'a feed of a made table',
      '      divide: { member: a, template: { table: "a_{key}", like: orders } }\nfeeds: [{ table: a_b, topic: x }]',
      'tables that a template makes have no feeds',
    ],
    ['a transform of all', `      where: id > 0\n      divide: { member: a, ${tables} }`, 'is said for each table of divide'],
    ['a transform that is none', '      divide: { member: a, tables: [{ table: orders, values: [x], where: nothing > 0 }] }', 'nothing'],
    ['a topic twice', `      divide: { member: a, ${tables} }`.replace('', '      topicPattern: "("\n'), 'is no regular expression'],
  ])('%s is refused at its place', (_, route, message) => {
    expect(issuesOf(route)).toContain(message);
  });

  it('names lines of the file, also behind it', () => {
    const error = loadError({
      yaml: `${yamlOf(`      divide: { member: a, ${tables} }`).trimEnd()}\n    - topics: [more]\n      table: nobody\n`,
    });
    expect(error.message).toContain('ingest.routes[2].table');
  });
});
