import type { BinaryOperator } from '../expression.ts';
import {
  type ArgumentTypes,
  argument,
  built,
  type CallExpression,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
} from '../function-spec.ts';
import { arithmeticType, type Operand } from '../number-types.ts';
import { isNumeric } from '../sql/cast-sql.ts';
import { arithmeticSql, type TypedSql, tryArithmeticSql } from '../sql/operator-sql.ts';

function operand(call: EngineCall, index: number): TypedSql {
  return { sql: argument(call, index), ...known(call.types, call.call, index) };
}

function known(types: ArgumentTypes, call: CallExpression, index: number): Operand {
  const given = call.arguments[index];
  return { type: types[index], literal: given?.kind === 'literal' ? given.literal : undefined };
}

function typeOf(operator: BinaryOperator): FunctionSpec['type'] {
  return (types, call) => {
    const [one, other] = [known(types, call, 0), known(types, call, 1)];
    // An operand of which nothing is known leaves the type to the engine.
    const isKnown = (side: Operand): boolean => side.literal?.type === 'null' || isNumeric(side.type) || side.type?.kind === 'string';
    if (isKnown(one) && isKnown(other)) return arithmeticType(operator, one, other);
    return one.type?.kind === 'date' && (other.literal?.type !== 'interval' || other.literal.micros === 0n) ? one.type : undefined;
  };
}

function operation(operator: BinaryOperator): FunctionSpec {
  return built(2, (call) => arithmeticSql(operator, operand(call, 0), operand(call, 1), call.call.zone), typeOf(operator));
}

/** What is no value is NULL: an overflow, a division by zero, text that is no number. */
function tried(operator: BinaryOperator): FunctionSpec {
  return built(2, (call) => tryArithmeticSql(operator, operand(call, 0), operand(call, 1), call.call.zone), typeOf(operator));
}

/** The remainder that is not negative for a divisor above zero; for others what two remainders leave. */
function positiveRemainder(call: EngineCall): string {
  const [left, right] = [operand(call, 0), operand(call, 1)];
  const remainder = arithmeticSql('%', left, right);
  const type = arithmeticType('%', left, right);
  const moved = arithmeticSql('%', { sql: `(${remainder} + ${right.sql})`, type }, right);
  return `CASE WHEN ${remainder} < 0 THEN ${moved} ELSE ${remainder} END`;
}

/** Operators spelled as functions. */
export const arithmeticFunctions: FunctionTable = {
  mod: operation('%'),
  pmod: built(2, positiveRemainder, typeOf('%')),
  try_add: tried('+'),
  try_subtract: tried('-'),
  try_multiply: tried('*'),
  try_divide: tried('/'),
  try_mod: tried('%'),
};
