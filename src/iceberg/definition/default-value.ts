import type { JsonValue } from '../../base/bigint-json.ts';
import { bindNow } from '../../expr/bind-parameters.ts';
import type { Literal } from '../../expr/expression.ts';
import { parseExpression } from '../../expr/parse/parse-expression.ts';
import { castLiteral, foldLiteral } from '../../expr/pruning/fold-literal.ts';
import type { TimeZone, ZoneRule } from '../../expr/time-zone.ts';
import { dateTimeParts, formatDate } from '../../schema/date-text.ts';
import type { DataType, Field } from '../../schema/types.ts';
import { unsupportedChange } from './definition-errors.ts';

/** Field metadata of a DEFAULT as SQL says it. */
export const sqlDefaultKey = 'CURRENT_DEFAULT';
/** Field metadata of defaults as table metadata has them: of rows in files without the column, and of rows to come. */
const initialDefaultKey = 'initial-default';
export const writeDefaultKey = 'write-default';

export interface DefaultOptions {
  readonly formatVersion: number;
  /** Of local times; default: UTC. */
  readonly zone?: TimeZone | undefined;
}

/**
 * A column that is being defined: a DEFAULT becomes its defaults in the specification's form. Of a column that is added to a table,
 * rows that are there have the default too.
 *
 * @throws AnalysisException for a default that is no constant of the column's type, or that the table's format version does not have.
 */
export function withDefaults(field: Field, options: DefaultOptions & { readonly forOldRows: boolean }): Field {
  const text = field.metadata?.[sqlDefaultKey];
  if (typeof text !== 'string') return field;
  const kept = Object.fromEntries(Object.entries(field.metadata ?? {}).filter(([key]) => key !== sqlDefaultKey));
  const value = defaultValue(text, field, options);
  if (value === null) return { ...field, metadata: kept };
  const initial = options.forOldRows ? { [initialDefaultKey]: value } : {};
  return { ...field, metadata: { ...kept, ...initial, [writeDefaultKey]: value } };
}

/** The JSON form of a default's text (https://iceberg.apache.org/spec/#default-values); null for NULL. @throws as `withDefaults`. */
export function defaultValue(text: string, field: Pick<Field, 'name' | 'type'>, { formatVersion, zone }: DefaultOptions): JsonValue {
  if (formatVersion < 3) {
    throw unsupportedChange(
      `Invalid initial default for ${field.name}: non-null default (${text}) is not supported until v3`,
      "set the table property 'format-version' = '3' first",
    );
  }
  const literal = foldLiteral(bindNow(parseExpression(text), { micros: 0n, zone }));
  const value = literal === undefined ? undefined : jsonOf(literal, field.type, zone?.rule);
  if (value !== undefined) return value;
  throw unsupportedChange(`the default of ${field.name} is not a constant of its type: ${text}`, 'write a literal of the column type');
}

function jsonOf(literal: Literal, type: DataType, zone: ZoneRule): JsonValue | undefined {
  if (literal.type === 'null') return null;
  if (type.kind === 'decimal') return decimalText(literal, type);
  const cast = type.kind === 'float' ? castLiteral(literal, { kind: 'double' }) : castLiteral(literal, type, zone);
  switch (cast?.type) {
    case 'boolean':
    case 'string':
      return cast.value;
    case 'integer':
      return type.kind === 'long' ? cast.value : Number(cast.value);
    case 'double':
    case 'float':
      return Number.isFinite(cast.value) ? cast.value : undefined;
    case 'date':
      return formatDate(cast.days);
    case 'timestamp':
      return `${instantText(cast.micros)}+00:00`;
    case 'timestamp_ntz':
      return instantText(cast.micros);
    case 'binary':
      return Buffer.from(cast.value).toString('hex');
    default:
      return literal.type === 'binary' && type.kind === 'binary' ? Buffer.from(literal.value).toString('hex') : undefined;
  }
}

function instantText(micros: bigint): string {
  const { date, time, fraction } = dateTimeParts(micros);
  return `${date}T${time}.${fraction}`;
}

function decimalText(literal: Literal, { precision, scale }: Extract<DataType, { kind: 'decimal' }>): string | undefined {
  const held =
    literal.type === 'integer'
      ? { unscaled: literal.value, scale: 0 }
      : literal.type === 'decimal'
        ? { unscaled: literal.unscaled, scale: literal.scale }
        : undefined;
  if (held === undefined || held.scale > scale) return undefined;
  const unscaled = held.unscaled * 10n ** BigInt(scale - held.scale);
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString();
  if (digits.length > precision) return undefined;
  const padded = digits.padStart(scale + 1, '0');
  const text = scale === 0 ? padded : `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
  return unscaled < 0n ? `-${text}` : text;
}
