import type { DataType } from '../../schema/types.ts';
import type { Expression, Literal } from '../expression.ts';
import { parseDateText, parseTimestampText } from '../parse/temporal-text.ts';
import { movedInstantMicros, toInstantMicros, toLocalMicros, type ZoneRule } from '../time-zone.ts';

const microsPerDay = 86_400_000_000n;

/** The value of an expression without columns, where it is simple enough to be computed here; `undefined` otherwise. */
export function foldLiteral(expression: Expression): Literal | undefined {
  switch (expression.kind) {
    case 'literal':
      return expression.literal;
    case 'unary': {
      const operand = foldLiteral(expression.operand);
      return expression.operator === '-' ? negated(operand) : expression.operator === '+' ? operand : undefined;
    }
    case 'cast': {
      const operand = foldLiteral(expression.operand);
      return operand === undefined ? undefined : castLiteral(operand, expression.type, expression.zone);
    }
    case 'binary':
      if (expression.operator !== '+' && expression.operator !== '-') return undefined;
      return moved(foldLiteral(expression.left), foldLiteral(expression.right), {
        direction: expression.operator === '-' ? -1n : 1n,
        zone: expression.zone,
      });
    case 'call': {
      const name = expression.name.toLowerCase();
      const [first, second] = expression.arguments.map(foldLiteral);
      if (name === 'date_add' || name === 'date_sub')
        return second?.type === 'integer'
          ? moved(first, second, { direction: name === 'date_sub' ? -1n : 1n, zone: expression.zone })
          : undefined;
      if (expression.arguments.length !== 1 || first === undefined) return undefined;
      return name === 'date' || name === 'to_date'
        ? castLiteral(first, { kind: 'date' }, expression.zone)
        : name === 'timestamp' || name === 'to_timestamp'
          ? castLiteral(first, { kind: 'timestamp' }, expression.zone)
          : undefined;
    }
    default:
      return undefined;
  }
}

/** The value that a column of the type is compared with; `undefined` where that is not known: instants do not order local times. */
export function foldBeside(column: DataType | undefined, expression: Expression, zone: ZoneRule): Literal | undefined {
  const literal = foldLiteral(expression);
  if (zone === undefined || literal === undefined || literal.type === 'null') return literal;
  if (column?.kind === 'timestamp') return castLiteral(literal, column, zone);
  const isLocal = column?.kind === 'date' || column?.kind === 'timestamp_ntz';
  return isLocal && literal.type === 'timestamp' ? undefined : literal;
}

/** A literal as a value of another type, exactly; `undefined` where that is not certain. `zone`: of local times; default: UTC. */
export function castLiteral(literal: Literal, type: DataType, zone?: ZoneRule): Literal | undefined {
  if (literal.type === 'null') return literal;
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long': {
      const value = wholeOf(literal);
      const bits = { byte: 8, short: 16, integer: 32, long: 64 }[type.kind];
      return value === undefined || BigInt.asIntN(bits, value) !== value ? undefined : { type: 'integer', value, width: type.kind };
    }
    case 'string':
      return literal.type === 'string' ? literal : undefined;
    case 'boolean':
      return literal.type === 'boolean' ? literal : undefined;
    case 'double':
      return literal.type === 'integer' || literal.type === 'double' || literal.type === 'float'
        ? { type: 'double', value: Number(literal.value) }
        : undefined;
    case 'date':
      return dateOf(literal, zone);
    case 'timestamp':
    case 'timestamp_ntz': {
      const micros = microsOf(literal, type.kind, zone);
      return micros === undefined ? undefined : { type: type.kind, micros };
    }
    default:
      return undefined;
  }
}

function wholeOf(literal: Literal): bigint | undefined {
  if (literal.type === 'integer') return literal.value;
  if (literal.type === 'string' && /^\s*[+-]?\d{1,19}\s*$/.test(literal.value)) return BigInt(literal.value.trim().replace(/^\+/, ''));
  return undefined;
}

function dateOf(literal: Literal, zone: ZoneRule): Literal | undefined {
  if (literal.type === 'date') return literal;
  if (literal.type === 'timestamp' || literal.type === 'timestamp_ntz') {
    const local = literal.type === 'timestamp' ? toLocalMicros(literal.micros, zone) : literal.micros;
    return { type: 'date', days: Number(floorDivide(local, microsPerDay)) };
  }
  const days = literal.type === 'string' ? parseDateText(literal.value) : undefined;
  return days === undefined ? undefined : { type: 'date', days };
}

function microsOf(literal: Literal, kind: 'timestamp' | 'timestamp_ntz', zone: ZoneRule): bigint | undefined {
  if (literal.type === kind) return literal.micros;
  if (literal.type === 'timestamp') return toLocalMicros(literal.micros, zone);
  const local = (micros: bigint): bigint => (kind === 'timestamp' ? toInstantMicros(micros, zone) : micros);
  if (literal.type === 'timestamp_ntz') return local(literal.micros);
  if (literal.type === 'date') return local(BigInt(literal.days) * microsPerDay);
  const parsed = literal.type === 'string' ? parseTimestampText(literal.value) : undefined;
  // What a zone means for a time without one is left to the engine.
  if (parsed === undefined || (parsed.zoned && kind === 'timestamp_ntz')) return undefined;
  return parsed.zoned ? parsed.micros : local(parsed.micros);
}

function negated(literal: Literal | undefined): Literal | undefined {
  switch (literal?.type) {
    case 'integer':
      return { ...literal, value: -literal.value };
    case 'decimal':
      return { ...literal, unscaled: -literal.unscaled };
    case 'double':
    case 'float':
      return { ...literal, value: -literal.value };
    default:
      return undefined;
  }
}

/** A date or an instant moved by days or an interval without months, whose length depends on where it begins. */
function moved(
  start: Literal | undefined,
  by: Literal | undefined,
  { direction, zone }: { readonly direction: bigint; readonly zone: ZoneRule },
): Literal | undefined {
  if (start?.type === 'string' && by?.type === 'integer') return moved(dateOf(start, zone), by, { direction, zone });
  if (start?.type === 'date' && by?.type === 'integer') return { type: 'date', days: start.days + Number(direction * by.value) };
  if (by?.type !== 'interval' || by.months !== 0) return undefined;
  if (start?.type === 'date' && by.micros === 0n) return { type: 'date', days: start.days + Number(direction) * by.days };
  if (start?.type !== 'timestamp' && start?.type !== 'timestamp_ntz') return undefined;
  const all = direction * (BigInt(by.days) * microsPerDay + by.micros);
  if (start.type === 'timestamp_ntz') return { ...start, micros: start.micros + all };
  // Whole days are the calendar's.
  return { ...start, micros: movedInstantMicros(start.micros, { days: all / microsPerDay, micros: all % microsPerDay }, zone) };
}

function floorDivide(value: bigint, by: bigint): bigint {
  return value / by - (value % by < 0n ? 1n : 0n);
}
