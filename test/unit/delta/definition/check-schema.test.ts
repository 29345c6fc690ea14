import { expect, it } from 'vitest';
import { checkSchema } from '../../../../src/delta/definition/check-schema.ts';
import type { DataType } from '../../../../src/schema/types.ts';

const rules = { partitionColumns: [], mapped: false, changeDataFeed: false };

it.each([
  [{ kind: 'time' }, 'c: TIME'],
  [{ kind: 'timestamp_ns' }, 'c: TIMESTAMP_NS'],
  [{ kind: 'list', element: { kind: 'timestamp_ntz_ns' }, elementNullable: true }, 'c.element: TIMESTAMP_NTZ_NS'],
  [{ kind: 'struct', fields: [{ name: 't', type: { kind: 'time' }, nullable: true }] }, 'c.t: TIME'],
] satisfies readonly (readonly [DataType, string])[])('types that the format does not have are refused by name: %j', (type, shown) => {
  const refusal = expect.objectContaining({ errorClass: 'DELTA_UNSUPPORTED_DATA_TYPES', sqlState: '0AKDC' }) as unknown;
  const check = (): void => {
    checkSchema({ kind: 'struct', fields: [{ name: 'c', type, nullable: true }] }, rules);
  };
  expect(check).toThrow(`[${shown}]`);
  try {
    check();
  } catch (error) {
    expect(error).toEqual(refusal);
  }
});
