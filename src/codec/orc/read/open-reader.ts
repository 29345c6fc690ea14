import { type ServiceError, serviceError } from '../../../base/errors.ts';
import { describeType } from '../../../schema/describe-type.ts';
import type { DataType } from '../../../schema/types.ts';
import { unsupportedOrc } from '../orc-errors.ts';
import { attribute } from '../schema/attributes.ts';
import type { ColumnPlan, StructPlan, ValuePlan } from '../schema/column-plan.ts';
import type { OrcType } from '../schema/orc-type.ts';
import { bytesReader } from './bytes-readers.ts';
import type { ColumnReader } from './column-reader.ts';
import { decimalReader } from './decimal-reader.ts';
import { booleanReader, floatingReader, integerReader, type ReaderPlace } from './fixed-readers.ts';
import { absentReader, listReader, mapReader, structReader } from './nested-readers.ts';
import type { Stripe } from './stripe.ts';
import { dateAsTimestampReader, timestampReader } from './timestamp-reader.ts';

/** Readers of the members of the root, in the order of the plan. The root itself is never null. */
export function openStructMembers(stripe: Stripe, plan: StructPlan): readonly ColumnReader[] {
  return plan.parts.map((part) => openReader(stripe, part));
}

/** @throws ServiceError `ORC_TYPE_MISMATCH`, `ORC_FEATURE_UNSUPPORTED` (kind unsupported). */
function openReader(stripe: Stripe, plan: ColumnPlan): ColumnReader {
  if (plan.kind === 'absent') return absentReader(plan.type);
  const { orc, type } = plan;
  const place = { stripe, orc, type };
  const [first, second] = plan.parts;
  if (orc.kind === 'struct' && type.kind === 'struct') return openStruct(place, plan);
  if (orc.kind === 'list' && type.kind === 'list' && first !== undefined) return listReader(place, openReader(stripe, first));
  if (orc.kind === 'map' && type.kind === 'map' && first !== undefined && second !== undefined) {
    return mapReader(place, openReader(stripe, first), openReader(stripe, second));
  }
  const open = readerOf(orc, type);
  if (open === undefined) throw mismatch(place);
  return open(place);
}

function openStruct(place: ReaderPlace, plan: ValuePlan): ColumnReader {
  const parts = plan.parts.map((part) => openReader(place.stripe, part));
  return structReader(
    place,
    parts,
    plan.parts.filter((part) => part.kind === 'absent').map((part) => part.type),
  );
}

type OpenReader = (place: ReaderPlace) => ColumnReader;

const integersInto: Readonly<Record<string, readonly string[]>> = {
  byte: ['tinyint'],
  short: ['tinyint', 'smallint'],
  integer: ['tinyint', 'smallint', 'int'],
  long: ['tinyint', 'smallint', 'int', 'bigint'],
  time: ['bigint'],
};

/** How a column becomes a type without parts; `undefined` when it cannot. */
function readerOf(orc: OrcType, type: DataType): OpenReader | undefined {
  switch (type.kind) {
    case 'boolean':
      return orc.kind === 'boolean' ? booleanReader : undefined;
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
    case 'time':
      return (integersInto[type.kind] ?? []).includes(orc.kind) ? integerReader : undefined;
    case 'float':
      return orc.kind === 'float' ? floatingReader : undefined;
    case 'double':
      return orc.kind === 'float' || orc.kind === 'double' ? floatingReader : undefined;
    case 'decimal':
      return orc.kind === 'decimal' ? decimalReader : undefined;
    case 'string':
      return textKinds.has(orc.kind) || (type.format === 'uuid' && orc.kind === 'binary') ? bytesReader : undefined;
    case 'binary':
      return orc.kind === 'binary' ? bytesReader : undefined;
    case 'date':
      return orc.kind === 'date' ? integerReader : undefined;
    case 'timestamp':
    case 'timestamp_ns':
      return orc.kind === 'timestamp with local time zone' ? timestampReader : undefined;
    case 'timestamp_ntz':
    case 'timestamp_ntz_ns':
      return orc.kind === 'timestamp' ? timestampReader : orc.kind === 'date' ? dateAsTimestampReader : undefined;
    default:
      return undefined;
  }
}

const textKinds: ReadonlySet<string> = new Set(['string', 'char', 'varchar']);

function mismatch({ stripe, orc, type }: ReaderPlace): ServiceError {
  const place = `${stripe.place}, column ${orc.column} "${orc.path}"`;
  if (orc.kind === 'union')
    return unsupportedOrc(place, 'type union is not supported', 'leave the column out, or rewrite the file without it');
  const note = orc.attributes.get(attribute.longType) ?? orc.attributes.get(attribute.binaryType);
  return serviceError.unsupported(
    'ORC_TYPE_MISMATCH',
    `${place}: a column of type ${orc.kind}${note === undefined ? '' : ` (${note})`} cannot be read as ${describeType(type)}`,
    { hint: 'compare the schema of the table with that of the file; the file may belong to another table' },
  );
}
