import { expect, it } from 'vitest';
import { looseStatistics } from '../../../../src/delta/row-level/mark-deleted-rows.ts';

it.each([
  [
    '{"numRecords":10,"minValues":{"d":0.10000000000000000000001},"tightBounds":true}',
    '{"numRecords":10,"minValues":{"d":0.10000000000000000000001},"tightBounds":false}',
  ],
  ['{"numRecords":10}', '{"numRecords":10,"tightBounds":false}'],
  [
    '{"minValues":{"tightBounds":true,"numRecords":1}}',
    '{"numRecords":10,"minValues":{"tightBounds":true,"numRecords":1},"tightBounds":false}',
  ],
  [
    '{"numRecords":10,"minValues":{"v":"\\"tightBounds\\":true,{"}}',
    '{"numRecords":10,"minValues":{"v":"\\"tightBounds\\":true,{"},"tightBounds":false}',
  ],
  ['{ "tightBounds" : true , "numRecords" : 10 }', '{ "tightBounds" : false , "numRecords" : 10 }'],
  [undefined, '{"numRecords":10,"tightBounds":false}'],
])('bounds of %s are no longer tight, and nothing else changes', (stats, expected) => {
  expect(looseStatistics(stats, 10)).toBe(expected);
});
