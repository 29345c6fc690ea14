import type { DataType } from '../../schema/types.ts';
import type { Expression, Literal } from '../expression.ts';
import { parseDateText, parseTimestampText } from '../parse/temporal-text.ts';

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
      return operand === undefined ? undefined : castLiteral(operand, expression.type);
    }
    case 'binary':
      if (expression.operator !== '+' && expression.operator !== '-') return undefined;
      return moved(foldLiteral(expression.left), foldLiteral(expression.right), expression.operator === '-' ? -1n : 1n);
    case 'call': {
      const name = expression.name.toLowerCase();
      const [first, second] = expression.arguments.map(foldLiteral);
      if (name === 'date_add' || name === 'date_sub')
        return second?.type === 'integer' ? moved(first, second, name === 'date_sub' ? -1n : 1n) : undefined;
      if (expression.arguments.length !== 1 || first === undefined) return undefined;
      return name === 'date' || name === 'to_date'
        ? castLiteral(first, { kind: 'date' })
        : name === 'timestamp' || name === 'to_timestamp'
          ? castLiteral(first, { kind: 'timestamp' })
          : undefined;
    }
    default:
      return undefined;
  }
}

/** A literal as a value of another type, exactly; `undefined` where that is not certain. */
export function castLiteral(literal: Literal, type: DataType): Literal | undefined {
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
      return dateOf(literal);
    case 'timestamp':
    case 'timestamp_ntz': {
      const micros = microsOf(literal, type.kind);
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

function dateOf(literal: Literal): Literal | undefined {
  if (literal.type === 'date') return literal;
  if (literal.type === 'timestamp' || literal.type === 'timestamp_ntz')
    return { type: 'date', days: Number(floorDivide(literal.micros, microsPerDay)) };
  const days = literal.type === 'string' ? parseDateText(literal.value) : undefined;
  return days === undefined ? undefined : { type: 'date', days };
}

function microsOf(literal: Literal, kind: 'timestamp' | 'timestamp_ntz'): bigint | undefined {
  if (literal.type === 'timestamp' || literal.type === 'timestamp_ntz') return literal.micros;
  if (literal.type === 'date') return BigInt(literal.days) * microsPerDay;
  const parsed = literal.type === 'string' ? parseTimestampText(literal.value) : undefined;
  // What a zone means for a time without one is left to the engine.
  return parsed === undefined || (parsed.zoned && kind === 'timestamp_ntz') ? undefined : parsed.micros;
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
function moved(start: Literal | undefined, by: Literal | undefined, direction: bigint): Literal | undefined {
  if (start?.type === 'string' && by?.type === 'integer') return moved(dateOf(start), by, direction);
  if (start?.type === 'date' && by?.type === 'integer') return { type: 'date', days: start.days + Number(direction * by.value) };
  if (by?.type !== 'interval' || by.months !== 0) return undefined;
  if (start?.type === 'date' && by.micros === 0n) return { type: 'date', days: start.days + Number(direction) * by.days };
  if (start?.type !== 'timestamp' && start?.type !== 'timestamp_ntz') return undefined;
  return { ...start, micros: start.micros + direction * (BigInt(by.days) * microsPerDay + by.micros) };
}

function floorDivide(value: bigint, by: bigint): bigint {
  return value / by - (value % by < 0n ? 1n : 0n);
}
