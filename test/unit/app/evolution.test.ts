import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tableFormatNames } from '../../../src/table/formats.ts';
import { EvolvingTable, type EvolvingTableSettings } from '../../support/evolving-table.ts';

const everything = '{ addColumns: true, widenTypes: true, relaxRequired: true }';
let directory: string;
let opened: EvolvingTable[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'evolution-'));
});

afterEach(async () => {
  for (const table of opened) await table.close();
  opened = [];
  rmSync(directory, { recursive: true, force: true });
});

function open(settings: Omit<EvolvingTableSettings, 'directory'>): EvolvingTable {
  const table = new EvolvingTable({ directory, ...settings });
  opened.push(table);
  return table;
}

describe.each(tableFormatNames)('a %s table that its records may change', (format) => {
  const idOnly = ['{ name: id, type: long }'];

  it('gets columns for members that no column takes, of the types that their values have', async () => {
    const table = open({ format, columns: idOnly, evolve: everything });
    await table.commit('{"id":1}');
    await table.commit(
      '{"id":2,"name":"a","n":1,"price":1.5,"ok":true,"day":"2026-01-02","at":"2026-01-02T03:04:05Z","tags":["x"],"who":{"age":3}}',
      '{"id":3,"name":null,"price":2}',
    );
    expect(await table.columns()).toBe(
      'id:long, name:string, n:long, price:double, ok:boolean, day:date, at:timestamp, tags:array<string>, who:struct<age:long>',
    );
    expect(await table.rows()).toEqual([
      '{"id":1}',
      '{"id":2,"name":"a","n":1,"price":1.5,"ok":true,"day":"2026-01-02","at":"2026-01-02T03:04:05.000Z","tags":["x"],"who":{"age":3}}',
      '{"id":3,"price":2.0}',
    ]);
    expect(table.changes).toHaveLength(8);
  });

  it('gets members of structs, in lists and maps too', async () => {
    const columns = [
      ...idOnly,
      '{ name: s, type: "struct<a:long>" }',
      '{ name: l, type: "array<struct<a:long>>" }',
      '{ name: m, type: "map<string,struct<a:long>>" }',
    ];
    const table = open({ format, columns, evolve: everything });
    await table.commit('{"id":1,"s":{"a":1,"b":{"c":"x"}},"l":[{"a":1},{"d":2}],"m":{"k":{"e":true}}}');
    expect(await table.rows()).toEqual([
      '{"id":1,"s":{"a":1,"b":{"c":"x"}},"l":[{"a":1},{"a":null,"d":2}],"m":{"k":{"e":true}}}'.replace('"a":null,', ''),
    ]);
  });

  it('widens whole numbers and makes required columns nullable, only where values call for it', async () => {
    const columns = [
      '{ name: id, type: long, nullable: false }',
      '{ name: n, type: integer, nullable: false }',
      '{ name: k, type: integer }',
    ];
    const table = open({ format, columns, evolve: everything });
    await table.commit('{"id":1,"n":1,"k":1}', '{"id":2,"n":5000000000,"k":7}', '{"id":3}');
    expect(await table.columns()).toBe('id:long not null, n:long, k:integer');
    expect(await table.rows()).toEqual(['{"id":1,"n":1,"k":1}', '{"id":2,"n":5000000000,"k":7}', '{"id":3}']);
    expect(table.rejects).toEqual([]);
  });

  it('keeps what a policy does not allow: a value that does not fit is a dead letter, a new member is not read', async () => {
    const columns = [...idOnly, '{ name: n, type: integer }'];
    const table = open({ format, columns, evolve: '{ relaxRequired: true }' });
    await table.commit('{"id":1,"n":5000000000}', '{"id":2,"more":1}');
    expect(table.rejects.map(({ message }) => message)).toEqual(['column "n": 5000000000 does not fit an integer']);
    expect(await table.rows()).toEqual(['{"id":2}']);
    expect(table.changes).toEqual([]);
  });

  it('takes a new column from the first batch that has it, and refuses values of other types for ever', async () => {
    const table = open({ format, columns: idOnly, evolve: everything });
    await table.commit('{"id":1,"n":1}');
    await table.commit('{"id":2,"n":"text"}', '{"id":3,"n":1.5}', '{"id":4,"n":4}');
    expect(await table.rows()).toEqual(['{"id":1,"n":1}', '{"id":4,"n":4}']);
    expect(table.rejects.map(({ reason }) => reason)).toEqual(['wrong-type', 'out-of-range']);
  });

  it('says of members of several types that they became no column, and nothing of nulls and empty lists', async () => {
    const table = open({ format, columns: idOnly, evolve: everything });
    await table.commit('{"id":1,"n":1,"z":null,"e":[]}', '{"id":2,"n":"text"}');
    expect(await table.columns()).toBe('id:long');
    expect(table.refusals).toEqual(['member "n": number in 1, text in 1: no type takes all of these']);
    expect(await table.rows()).toEqual(['{"id":1}', '{"id":2}']);
  });

  it('stages batches again that were staged before the table changed, and loses none of their rows', async () => {
    const table = open({ format, columns: idOnly, evolve: everything });
    const outcomes = await table.commitAtOnce(['{"id":1}'], ['{"id":2,"a":1}'], ['{"id":3,"a":2,"b":3}'], ['{"id":4}']);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['committed', 'committed', 'committed', 'committed']);
    expect(await table.rows()).toEqual(['{"id":1}', '{"id":2,"a":1}', '{"id":3,"a":2,"b":3}', '{"id":4}']);
  });

  it('stages a batch again for a table that somebody else changed meanwhile', async () => {
    const table = open({ format, columns: idOnly, evolve: everything });
    await table.commit('{"id":1}');
    await table.sql('ALTER TABLE $events ADD COLUMN a INT');
    await table.commit('{"id":2,"a":5000000000}');
    await table.commit('{"id":3,"a":5000000000,"c":true}');
    expect(await table.rows()).toEqual(['{"id":1}', '{"id":2,"a":5000000000}', '{"id":3,"a":5000000000,"c":true}']);
  });

  it('has no more columns than it may have', async () => {
    const table = open({ format, columns: idOnly, evolve: '{ addColumns: true, maxColumns: 3 }' });
    await table.commit('{"id":1,"a":1,"b":1,"c":1,"d":1}');
    expect(await table.columns()).toBe('id:long, a:long, b:long');
    expect(table.refusals).toEqual(['member "c": the table has its 3 columns', 'member "d": the table has its 3 columns']);
  });

  it('leaves members alone whose names differ in case alone from columns', async () => {
    const table = open({
      format,
      columns: [...idOnly, '{ name: Name, type: string }', '{ name: other, type: long, member: x }'],
      evolve: everything,
    });
    await table.commit('{"id":1,"Name":"a","name":"b","other":1,"x":2}');
    expect(await table.columns()).toBe('id:long, Name:string, other:long');
    expect(table.refusals).toEqual([
      'member "other": a column of that name takes something else',
      'member "name": another member differs in case alone: name the column otherwise, with `member`',
    ]);
  });

  it('keeps in a column from the rescue what has no place, and makes room for what can have one', async () => {
    const rescue = '{ name: _rescued, type: string, from: rescue }';
    const kept = open({ format, columns: [...idOnly, '{ name: n, type: integer }', rescue], evolve: '{ relaxRequired: true }' });
    await kept.commit('{"id":1,"n":1}', '{"id":2,"n":"x","new":{"a":1}}');
    expect(await kept.rows()).toEqual(['{"id":1,"n":1}', '{"id":2,"_rescued":"{\\"n\\":\\"x\\",\\"new\\":{\\"a\\":1}}"}']);
    expect(kept.rejects).toEqual([]);
  });

  it('makes room for what it would rescue otherwise', async () => {
    const rescue = '{ name: _rescued, type: string, from: rescue }';
    const table = open({ format, columns: [...idOnly, '{ name: n, type: integer }', rescue], evolve: everything });
    await table.commit('{"id":1,"n":5000000000,"new":1}');
    await table.commit('{"id":2,"n":"x","new":"y"}');
    await table.commit('{"id":3,"new":2}', '{"id":4,"new":"y"}');
    expect(await table.columns()).toBe('id:long, n:long, _rescued:string, new:long');
    expect(await table.rows("concat_ws(' ', n, new, _rescued)")).toEqual(['5000000000 1', '{"n":"x","new":"y"}', '2', '{"new":"y"}']);
  });

  it('tells the changes of rows that were written before a type was widened', async () => {
    const table = open({ format, columns: [...idOnly, '{ name: n, type: integer }'], evolve: everything });
    await table.commit('{"id":1,"n":1}', '{"id":2,"n":2}');
    await table.commit('{"id":3,"n":5000000000}');
    expect(await table.storedRows()).toEqual(['1 1', '2 2', '3 5000000000']);
  });
});

it('an Iceberg table gets no column whose name readers keep for columns of their own, but members of structs called so', async () => {
  const table = open({
    format: 'iceberg',
    columns: ['{ name: id, type: long }', '{ name: s, type: "struct<a:long>" }'],
    evolve: everything,
  });
  await table.commit('{"id":1,"s":{"a":1,"_deleted":2},"_deleted":true,"_Row_Id":7,"_change_type":"I","plain":3}');
  expect(await table.columns()).toBe('id:long, s:struct<a:long, _deleted:long>, plain:long');
  expect(table.refusals).toEqual(
    ['_deleted', '_Row_Id', '_change_type'].map((name) => `member "${name}": readers of the format have a column of that name themselves`),
  );
});
