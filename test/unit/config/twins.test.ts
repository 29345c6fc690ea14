import { describe, expect, it } from 'vitest';
import { load, loadError } from './config-support.ts';

const yamlOf = (tables: string, routes = '[{ topics: [o], table: orders }, { topics: [k], table: keyed }]'): string => `
pipeline: demo
kafka: { brokers: [k1:9092] }
tables:
  - { name: orders, path: /t/orders, columns: [{ name: id, type: long }, { name: city, type: string }], partitionBy: [city] }
  - { name: visits, format: iceberg, columns: [{ name: id, type: long }] }
  - { name: keyed, mode: upsert, keyColumns: [id], columns: [{ name: id, type: long, nullable: false }] }
${tables}
ingest: { routes: ${routes} }
`;

describe('a twin in the configuration', () => {
  it('has the columns and the partitioning of its table, and properties of its own', () => {
    const { config } = load({ yaml: yamlOf('  - { name: lake, format: iceberg, twinOf: orders, path: /t/lake, properties: { a: b } }') });
    const [orders, , , lake] = config.tables;
    expect(lake).toMatchObject({ twinOf: 'orders', location: '/t/lake', ofLetters: false, sources: orders?.sources });
    expect(lake?.definition).toEqual({ ...orders?.definition, properties: { a: 'b' } });
  });

  it.each([
    ['twinOf: nothing', 'no table is called "nothing"'],
    ['twinOf: visits', '"visits" has format iceberg, whose tables have no twins'],
    ['twinOf: orders, format: delta', 'twinOf: is only for tables of format iceberg'],
    ['twinOf: orders, columns: [{ name: id, type: long }]', 'columns: are those of the table that twinOf names; leave them out'],
    ['twinOf: orders, partitionBy: [city]', 'partitionBy: is that of the table that twinOf names; leave it out'],
    ['twinOf: orders, mode: upsert', 'mode: is that of the table that twinOf names; leave it out'],
    ['twinOf: keyed', '"keyed" is of mode upsert, whose old rows are marked in their files; such a table has no twin'],
    ['twinOf: orders, evolve: { addColumns: true }', 'evolve: is that of the table that twinOf names; leave it out'],
    ['twinOf: orders, properties: { gc.enabled: "true" }', 'is set by the pipeline'],
    ['twinOf: orders, properties: { format-version: "1" }', 'a twin has format version 2 or 3'],
    ['twinOf: orders, path: /t/orders/twin', 'one of the two tables lies below the other'],
  ])('is refused with %s', (settings, complaint) => {
    const format = settings.includes('format: delta') ? '' : 'format: iceberg, ';
    const error = loadError({ yaml: yamlOf(`  - { name: lake, ${format}${settings} }`) });
    expect(`${error.message} ${error.hint ?? ''}`).toContain(complaint);
  });

  it('has no route, and no second one beside it', () => {
    const twin = (name: string): string => `  - { name: ${name}, format: iceberg, twinOf: orders, path: /t/${name} }`;
    const routed = loadError({
      yaml: yamlOf(twin('lake'), '[{ topics: [o], table: orders }, { topics: [p], table: lake }, { topics: [k], table: keyed }]'),
    });
    expect(routed.message).toContain('table "lake" has a route; a twin follows its table and takes no records itself');
    expect(loadError({ yaml: yamlOf(`${twin('lake')}\n${twin('sea')}`) }).message).toContain('"orders" has a twin already');
  });

  it('is not of a table that others are made like, for those would have none', () => {
    const routes =
      '[{ topics: [o], divide: { by: topic, template: { table: "made_{key}", like: orders } } }, { topics: [k], table: keyed }]';
    const error = loadError({ yaml: yamlOf('  - { name: lake, format: iceberg, twinOf: orders, path: /t/lake }', routes) });
    expect(error.message).toContain('tables that a template makes have no twins');
  });
});
