import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../../base/bigint-json.ts';
import { dateTimeParts, formatDate } from '../../schema/date-text.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { physicalName } from '../column-mapping/physical-schema.ts';

const microsPerMilli = 1000n;
const exactDigits = 15;

/**
 * The statistics of a checkpoint that has them as columns only (`stats_parsed`), as the JSON text that the log has elsewhere. Without the
 * schema, which tells days and microseconds from numbers, the bounds are left out. `undefined`: there are none.
 */
export function parsedStatsText(parsed: JsonValue | undefined, schema: StructType | undefined): string | undefined {
  if (!isJsonObject(parsed) || parsed['numRecords'] === null || parsed['numRecords'] === undefined) return undefined;
  const { numRecords, minValues, maxValues, nullCount, tightBounds } = parsed;
  return printJson({
    numRecords,
    minValues: schema === undefined ? undefined : boundsOf(minValues, schema, 'min'),
    maxValues: schema === undefined ? undefined : boundsOf(maxValues, schema, 'max'),
    nullCount: withoutNulls(nullCount),
    tightBounds: typeof tightBounds === 'boolean' ? tightBounds : undefined,
  });
}

type Side = 'min' | 'max';

function boundsOf(values: JsonValue | undefined, schema: StructType, side: Side): JsonObject | undefined {
  if (!isJsonObject(values)) return undefined;
  const types = new Map(schema.fields.map((field) => [physicalName(field), field.type]));
  const entries = Object.entries(values).flatMap(([name, value]) => {
    const bound = boundOf(value, types.get(name), side);
    return bound === undefined ? [] : [[name, bound] as const];
  });
  return Object.fromEntries(entries);
}

function boundOf(value: JsonValue | undefined, type: DataType | undefined, side: Side): JsonValue | undefined {
  if (value === undefined || value === null || type === undefined || Array.isArray(value)) return undefined;
  switch (type.kind) {
    case 'struct':
      return boundsOf(value, type, side);
    case 'date':
      return typeof value === 'number' ? formatDate(value) : undefined;
    case 'timestamp':
    case 'timestamp_ntz':
      return typeof value === 'number' || typeof value === 'bigint'
        ? timestampText(BigInt(value), side) + (type.kind === 'timestamp' ? 'Z' : '')
        : undefined;
    // Text with all its digits; a number where that holds them.
    case 'decimal':
      return typeof value === 'string' && value.replace(/\D/g, '').length <= exactDigits ? Number(value) : value;
    default:
      return typeof value === 'number' && !Number.isFinite(value) ? undefined : value;
  }
}

/** Milliseconds, as everywhere in the log: down for the smallest, up for the largest. */
function timestampText(micros: bigint, side: Side): string {
  const rest = ((micros % microsPerMilli) + microsPerMilli) % microsPerMilli;
  const { date, time, fraction } = dateTimeParts(micros - rest + (side === 'max' && rest > 0n ? microsPerMilli : 0n));
  return `${date}T${time}.${fraction.slice(0, 3)}`;
}

function withoutNulls(value: JsonValue | undefined): JsonValue | undefined {
  if (value === null || value === undefined) return undefined;
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, withoutNulls(member)] as const);
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined));
}
