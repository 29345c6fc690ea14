import { largeInteger, smallInteger } from '../../codec/avro/scalar-readers.ts';
import type { DecimalBuilder } from '../../codec/columns/decimal-builder.ts';
import { ValueRefused, valueOutOfRange } from './value-refused.ts';

/** What Kafka Connect calls decimals: the bytes of a number, whose scale is in the schema. */
export const connectDecimal = 'org.apache.kafka.connect.data.Decimal';
/** And Debezium a number that brings its scale with it. */
export const variableScaleDecimal = 'io.debezium.data.VariableScaleDecimal';

// So many bytes are a safe integer.
const safeBytes = 6;

/** Big-endian two's complement. @throws ValueRefused when it is beyond every decimal. */
export function storedInteger(bytes: Uint8Array, where: string): bigint | number {
  if (bytes.length <= safeBytes) return smallInteger(bytes);
  const value = largeInteger(bytes);
  if (value === undefined) throw new ValueRefused(where, 'out-of-range', 'has more than 38 digits');
  return value;
}

const maxScaleDistance = 76;

/** Appends a decimal of any scale, exactly. @throws ValueRefused when the column has not the digits for it. */
export function appendScaled(column: DecimalBuilder, unscaled: bigint, scale: number, where: string): void {
  const { precision, scale: wanted } = column.type;
  const expected = `a decimal(${precision},${wanted})`;
  // A scale beyond these has no digit left in any column; its power of ten need not be made.
  if (unscaled !== 0n && Math.abs(wanted - scale) > maxScaleDistance) throw valueOutOfRange(where, `${unscaled}E${-scale}`, expected);
  const shift = 10n ** BigInt(unscaled === 0n ? 0 : Math.abs(wanted - scale));
  const value = wanted >= scale ? unscaled * shift : unscaled / shift;
  if ((wanted < scale && value * shift !== unscaled) || value >= 10n ** BigInt(precision) || value <= -(10n ** BigInt(precision)))
    throw valueOutOfRange(where, `${unscaled}E${-scale}`, expected);
  column.appendBigInt(value);
}
