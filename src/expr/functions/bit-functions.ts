import { argument, built, type EngineCall, type FunctionTable, types } from '../function-spec.ts';

/** A shift counts in the bits of the value's type: by 33 of INT is by 1, by -1 is by 31. */
function shift(direction: 'left' | 'right' | 'unsigned'): (call: EngineCall) => string {
  return (call) => {
    const [value, given] = [argument(call, 0), argument(call, 1)];
    const isLong = call.types[0]?.kind === 'long';
    const [bits, target] = isLong ? [64, 'BIGINT'] : [32, 'INTEGER'];
    const count = `(((${given} % ${bits}) + ${bits}) % ${bits})`;
    if (direction === 'right') return `CAST(${floored(value, count)} AS ${target})`;
    const unsigned = `(CAST(${value} AS HUGEINT) + CASE WHEN ${value} < 0 THEN ${2n ** BigInt(bits)} ELSE 0 END)`;
    if (direction === 'unsigned') return wrapped(`(${unsigned} >> ${count})`, { bits, target });
    // The bits that leave on the left are cut off before the shift.
    const kept = `(${unsigned} % (CAST(1 AS HUGEINT) << (${bits} - ${count})))`;
    return wrapped(`(${kept} << ${count})`, { bits, target });
  };
}

/** The engine fills with zeros, but the sign stays: negative numbers are shifted by their complement. */
function floored(value: string, count: string): string {
  return `CASE WHEN ${value} < 0 THEN -1 - ((-1 - ${value}) >> ${count}) ELSE ${value} >> ${count} END`;
}

function wrapped(value: string, { bits, target }: { readonly bits: number; readonly target: string }): string {
  const [half, whole] = [2n ** BigInt(bits - 1), 2n ** BigInt(bits)];
  return `CAST(CASE WHEN ${value} >= ${half} THEN ${value} - ${whole} ELSE ${value} END AS ${target})`;
}

/** Of 64 bits, whatever the type. */
function countSql(call: EngineCall): string {
  const value = argument(call, 0);
  return call.types[0]?.kind === 'boolean' ? `CAST(${value} AS INTEGER)` : `CAST(bit_count(CAST(${value} AS BIGINT)) AS INTEGER)`;
}

const bitsOf: Readonly<Record<string, number | undefined>> = { byte: 8, short: 16, integer: 32, long: 64 };

function bitSql(call: EngineCall): string {
  const [value, place] = [argument(call, 0), argument(call, 1)];
  const bits = bitsOf[call.types[0]?.kind ?? 'long'] ?? 64;
  const outside = `error('[INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE] The bit position ' || ${place} || ' is not in [0, ${bits}).')`;
  return `CASE WHEN ${place} < 0 OR ${place} >= ${bits} THEN ${outside} ELSE CAST((${value} >> ${place}) & 1 AS TINYINT) END`;
}

/** The bit at the place, the lowest at 0. */
const bitAt = built(['ownIntegral', 'integer'], bitSql, { kind: 'byte' });

/** Functions of the bits of whole numbers. */
export const bitFunctions: FunctionTable = {
  shiftleft: built(['integral', 'integer'], shift('left'), 'first'),
  shiftright: built(['integral', 'integer'], shift('right'), 'first'),
  shiftrightunsigned: built(['integral', 'integer'], shift('unsigned'), 'first'),
  // Written between their operands.
  '<<': built(['integral', 'integer'], shift('left'), 'first'),
  '>>': built(['integral', 'integer'], shift('right'), 'first'),
  '>>>': built(['integral', 'integer'], shift('unsigned'), 'first'),
  bit_get: bitAt,
  getbit: bitAt,
  bit_count: built(1, countSql, types.integer),
};
