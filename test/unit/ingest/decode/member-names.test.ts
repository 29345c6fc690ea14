import { describe, expect, it } from 'vitest';
import { JsonCursor } from '../../../../src/ingest/decode/json/json-cursor.ts';
import { MemberNames } from '../../../../src/ingest/decode/json/member-names.ts';

function cursorAt(text: string): JsonCursor {
  const bytes = new TextEncoder().encode(text);
  const cursor = new JsonCursor(8);
  cursor.load(bytes, 0, bytes.length);
  return cursor;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const learn = (names: MemberNames, name: string): number => names.learn(bytesOf(name), 0, bytesOf(name).length);
const find = (names: MemberNames, name: string): number => names.find(bytesOf(name), 0, bytesOf(name).length);

describe('names of members', () => {
  it('are learned behind those that are known, and found and compared like them', () => {
    const names = new MemberNames(['id', 'naïve']);
    expect([find(names, 'id'), find(names, 'naïve'), find(names, 'city')]).toEqual([0, 1, -1]);
    expect(learn(names, 'city')).toBe(2);
    expect([find(names, 'id'), find(names, 'naïve'), find(names, 'city'), find(names, 'cities')]).toEqual([0, 1, 2, -1]);
    const cursor = cursorAt('"city":1');
    expect([names.follows(cursor, 0), names.follows(cursor, 2), cursor.pos]).toEqual([false, true, 7]);
    expect(names.follows(cursorAt('"city" :1'), 2)).toBe(false);
  });

  it('are learned until there is no room, and not when they are long', () => {
    const names = new MemberNames(['id']);
    expect(learn(names, 'x'.repeat(129))).toBe(-1);
    const learned = Array.from({ length: 70 }, (_, index) => learn(names, `member ${index}`));
    expect(learned.filter((index) => index >= 0)).toEqual(Array.from({ length: 64 }, (_, index) => index + 1));
    expect([find(names, 'id'), find(names, 'member 63'), find(names, 'member 64')]).toEqual([0, 64, -1]);
  });

  it('with what JSON escapes never follow as they are', () => {
    const names = new MemberNames([]);
    const index = learn(names, 'a"b');
    expect([find(names, 'a"b'), names.follows(cursorAt('"a"b":1'), index)]).toEqual([index, false]);
  });
});
