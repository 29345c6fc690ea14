import { printJson } from '../../../base/bigint-json.ts';
import { fieldOf } from '../../../schema/columns.ts';
import type { DataType, StructType } from '../../../schema/types.ts';
import type { PartitionValues } from '../../../table/staged-file.ts';
import { physicalPartitionColumns, physicalSchema } from '../../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';

/** `partitionKey` of a file's values as the log has them. */
export function partitionKeys(
  snapshot: Pick<DeltaSnapshot, 'schema' | 'partitionColumns' | 'mapping'>,
): (values: PartitionValues) => string {
  const { schema, partitionColumns, mapping } = snapshot;
  const columns = physicalPartitionColumns(schema, partitionColumns, mapping);
  const stored = physicalSchema(schema, mapping);
  return (values) => partitionKey(values, columns, stored);
}

/**
 * One text per *typed* partition: files whose values are spelled differently and mean the same (timestamps have two legal spellings, null
 * may be written as an empty string) get the same key. A value that does not parse stands for itself.
 */
export function partitionKey(values: PartitionValues, partitionColumns: readonly string[], schema: StructType): string {
  return printJson(
    partitionColumns.map((column) => {
      const text = values[column];
      const type = fieldOf(schema, column)?.type;
      return text === undefined || text === '' ? null : type === undefined ? text : canonicalText(text, type);
    }),
  );
}

function canonicalText(text: string, type: DataType): string {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace(/^\+/, '')).toString() : text;
    case 'float':
    case 'double':
      return Number.isNaN(Number(text)) ? text : String(Number(text));
    case 'decimal':
      return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
    case 'boolean':
      return text.toLowerCase();
    case 'timestamp':
    case 'timestamp_ntz':
      return timestampMicros(text)?.toString() ?? text;
    default:
      return text;
  }
}

const timestampText = /^(\d{4,6})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6})\d*)?)?)?(Z|[+-]\d\d:?\d\d)?$/;

/** Microseconds since the epoch; a spelling without zone is taken as UTC. */
function timestampMicros(text: string): bigint | undefined {
  const parts = timestampText.exec(text);
  if (parts === null) return undefined;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map((part) => Number(part || '0'));
  const date = new Date(0);
  // Date.UTC would take the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  return (BigInt(date.getTime()) - BigInt(zoneOffsetMs(parts[8]))) * 1000n + BigInt((parts[7] ?? '').padEnd(6, '0'));
}

function zoneOffsetMs(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}
