import { describe, expect, it } from 'vitest';
import { requireTransform } from '../../../../src/ingest/transform/compile-transform.ts';
import type { Field, StructType } from '../../../../src/schema/types.ts';
import { benchYaml } from '../../../support/transform-bench.ts';
import { loadError } from '../../config/config-support.ts';

const columns = ['name: id, type: long', 'name: name, type: string', 'name: tags, type: array<string>'];

function refusal(route: string, table: readonly string[] = columns): string {
  return loadError({ yaml: benchYaml({ columns: table, route }) }).message;
}

describe('what a transform is refused for at the start, with its place in the file and in the expression', () => {
  it.each([
    ['an unknown column', 'where: id > 1 AND nam = 2', 'where: at character 12: A column, variable, or function parameter with name `nam`'],
    ['text that is no expression', 'where: id >', 'where: at character 5: '],
    ['a type that does not fit', 'where: id + 1', 'where: The condition of WHERE has the type "BIGINT", it must be "BOOLEAN".'],
    ['an aggregate', 'where: max(id) > 1', 'where: at character 1: max() is an aggregate'],
    ['a window', 'where: row_number() OVER (ORDER BY id) = 1', 'where: at character 1: row_number() looks at other rows'],
    ['a query', 'where: id IN (SELECT 1)', 'where: at character 8: '],
    ['chance', 'select: [id, "uuid() AS name"]', 'select[1]: at character 1: uuid() gives another value each time'],
    ['numbers by chance', 'select: ["CAST(rand() AS bigint) AS id"]', 'select[0]: at character 6: rand() gives another value each time'],
    [
      'the time',
      'select: ["CAST(current_timestamp() AS string) AS name"]',
      'select[0]: at character 6: current_timestamp() gives another value each time',
    ],
    ['the day', "where: current_date() > DATE'2026-01-01'", 'where: at character 1: current_date() gives another value each time'],
    ['an unknown function', 'select: ["upperr(name) AS name"]', 'select[0]: at character 1: '],
    ['a wrong number of arguments', 'select: ["upper() AS name"]', 'select[0]: at character 1: '],
    [
      'a column that the table has not',
      'select: [id, "upper(name) AS nam"]',
      'select[1]: the table has no column "nam"; did you mean "name"?',
    ],
    ['a column that is filled twice', 'select: [id, "1 AS id"]', 'select[1]: column "id" of the table is filled already'],
    [
      'a value that does not become one of the column',
      'select: ["tags AS id"]',
      'select[0]: a value of type ARRAY<STRING> does not become one of column "id"',
    ],
    ['two generators', 'select: ["explode(tags) AS name", "explode(tags) AS id"]', 'select[1]: a second generator'],
    ['a generator in an expression', 'select: ["upper(explode(tags)) AS name"]', 'select[0]: at character 7: explode() makes rows'],
    [
      'a generator of other values',
      'select: ["explode(tags) AS id"]',
      'select[0]: explode() gives STRING, and column "id" has type BIGINT',
    ],
    ['a generator in a condition', 'where: explode(tags) = 1', 'where: at character 1: explode() makes rows'],
    [
      'an expectation of a column that is not of the table',
      'columns: [{ name: id, type: long }, { name: x, type: long }]\nselect: [id]\nexpect: [{ name: e, condition: x > 1 }]',
      'expect[0].condition: at character 1: ',
    ],
    [
      'two expectations of one name',
      'expect: [{ name: e, condition: id > 1 }, { name: e, condition: id > 2 }]',
      'expect[1].name: a second expectation is called "e"',
    ],
    ['columns without those of the table', 'columns: [{ name: id, type: long }]', 'columns: has no column "name", which the table has'],
    [
      'a second column of a name',
      'columns: [{ name: id, type: long }, { name: ID, type: long }]\nselect: [id]',
      'columns: a second column is called "ID"',
    ],
    ['EXCEPT of nothing', 'select: ["* EXCEPT (nam)"]', 'select[0]: EXCEPT names "nam", which is no column of the record'],
  ])('%s', (_, route, message) => {
    const found = refusal(route);
    expect(found).toContain(`ingest.routes[0].${message}`);
    // Line and column of the setting.
    expect(found).toMatch(/^a\.yaml:\d+:\d+: ingest/);
  });

  it('a required column that nothing fills', () => {
    expect(refusal('select: [name]', ['name: id, type: long, nullable: false', 'name: name, type: string'])).toContain(
      'select: nothing fills column "id" of the table, which is required',
    );
  });

  it('a column that the table has got since its declaration is null', () => {
    const column = (name: string): Field => ({ name, type: { kind: 'long' }, nullable: true });
    const table: StructType = { kind: 'struct', fields: [column('id'), column('added')] };
    const record: StructType = { kind: 'struct', fields: [column('id')] };
    expect(requireTransform('t', { where: 'id > 1' }, { record, table }).outputs).toEqual([
      { kind: 'record', column: 0 },
      { kind: 'absent' },
    ]);
    expect(() => requireTransform('t', { where: 'x > 1' }, { record, table })).toThrow('table "t": where: at character 1: ');
  });

  it('all that is wrong is told at once', () => {
    expect(refusal('select: [idd, "uuid() AS name"]\nwhere: nope').split('\n').length).toBe(3);
  });

  it('an expression over several lines says which line', () => {
    expect(refusal('where: |-\n  id > 1\n    AND nam = 2')).toContain('where: at line 2, character 7: ');
  });
});
