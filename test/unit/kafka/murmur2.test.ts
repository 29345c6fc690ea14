import { expect, it } from 'vitest';
import { murmur2, partitionOfKey } from '../../../src/kafka/murmur2.ts';

// The values of Kafka's own UtilsTest.testMurmur2.
it.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
])('hashes %s as Java clients do', (text, hash) => {
  expect(murmur2(Buffer.from(text))).toBe(hash);
});

it('never answers a negative partition', () => {
  const key = Buffer.from('21');
  expect(partitionOfKey(key, key.length, 7)).toBe((-973932308 & 0x7fffffff) % 7);
});
