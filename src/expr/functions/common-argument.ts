import type { DataType } from '../../schema/types.ts';
import type { CallExpression, EngineCall } from '../function-spec.ts';
import { widerNumber } from '../number-types.ts';
import { castSql } from '../sql/cast-sql.ts';

/** The type that values of all types take where one of them is chosen; `undefined` where that is not known. */
export function commonOf(types: readonly (DataType | undefined)[]): DataType | undefined {
  return types.reduce((all, type) => {
    if (all === undefined || type === undefined) return undefined;
    return widerNumber(all, type) ?? (all.kind === type.kind ? all : undefined);
  }, types[0]);
}

/** What a call's arguments have in common, NULLs left out. */
export function commonArgument(types: readonly (DataType | undefined)[], { arguments: given }: CallExpression): DataType | undefined {
  return commonOf(types.filter((_, index) => !isNull(given[index])));
}

/** The arguments, numbers among them cast to the type that holds them all. */
export function widened(call: EngineCall, from: number = 0): readonly string[] {
  const types = call.types.filter((_, index) => index >= from && !isNull(call.call.arguments[index]));
  const common = commonOf(types);
  if (common === undefined || types.every((type) => sameNumber(type, common))) return call.args;
  return call.args.map((sql, index) => {
    const type = call.types[index];
    return index < from || type === undefined || sameNumber(type, common) ? sql : castSql(sql, { from: type, to: common, safe: false });
  });
}

function isNull(given: CallExpression['arguments'][number] | undefined): boolean {
  return given?.kind === 'literal' && given.literal.type === 'null';
}

function sameNumber(type: DataType | undefined, other: DataType): boolean {
  if (type?.kind === 'decimal' && other.kind === 'decimal') return type.precision === other.precision && type.scale === other.scale;
  return type?.kind === other.kind;
}
