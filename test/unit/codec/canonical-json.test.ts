import { expect, it } from 'vitest';
import { buildBatch } from '../../../src/codec/build-columns.ts';
import { canonicalRows } from '../../../src/codec/canonical-json.ts';

it('times have six digits of the second, nanoseconds nine, instants a Z', () => {
  const batch = buildBatch(
    {
      kind: 'struct',
      fields: [
        { name: 't', type: { kind: 'time' }, nullable: true },
        { name: 'i', type: { kind: 'timestamp_ns' }, nullable: true },
        { name: 'l', type: { kind: 'timestamp_ntz_ns' }, nullable: true },
      ],
    },
    [{ t: 36_672_000_001n, i: -1n, l: 1_704_067_200_123_456_789n }, {}],
  );
  expect([...canonicalRows(batch)]).toEqual([
    '{"i":"1969-12-31T23:59:59.999999999Z","l":"2024-01-01T00:00:00.123456789","t":"10:11:12.000001"}',
    '{"i":null,"l":null,"t":null}',
  ]);
});
