import { expect, it } from 'vitest';
import type { SchemaKey } from '../../../src/protocol/payload-encoding.ts';
import { RecentSchemas } from '../../../src/registry/recent-schemas.ts';

/** Keeps a schema of that many characters, and names it. */
function keep(recent: RecentSchemas, id: number, length: number): SchemaKey {
  const schema = { type: 'AVRO', text: 'x'.repeat(length), references: [] } as const;
  const [key, asked] = [`ids/${id}`, Promise.resolve(schema)] as const;
  recent.keep(key, asked);
  recent.answered(key, asked, schema);
  return key;
}

it('keeps schemas for good, as long as they are not many: then what was not used for longest goes', () => {
  const recent = new RecentSchemas();
  const keys = Array.from({ length: 10_000 }, (_, id) => keep(recent, id, 10));
  expect(keys.every((key) => recent.get(key) !== undefined)).toBe(true);
  void recent.get('ids/0');
  keep(recent, 10_000, 10);
  expect(['ids/0', 'ids/1', 'ids/2', 'ids/10000'].filter((key) => recent.get(key) === undefined)).toEqual(['ids/1']);
});

it('keeps as many long ones as there is room for, the one that is wanted always', () => {
  const recent = new RecentSchemas();
  const keys = [1, 2, 3].map((id) => keep(recent, id, 12 * 2 ** 20));
  expect(keys.map((key) => recent.get(key) !== undefined)).toEqual([false, true, true]);
  const huge = keep(recent, 4, 40 * 2 ** 20);
  expect([...keys, huge].map((key) => recent.get(key) !== undefined)).toEqual([false, false, false, true]);
});

it('forgets what could not be answered, and not what was asked for since', () => {
  const recent = new RecentSchemas();
  const [lost, again] = [Promise.resolve(undefined), Promise.resolve(undefined)];
  recent.keep('ids/1', lost);
  recent.forget('ids/1', lost);
  expect(recent.get('ids/1')).toBeUndefined();
  recent.keep('ids/1', again);
  recent.forget('ids/1', lost);
  expect(recent.get('ids/1')).toBe(again);
});
