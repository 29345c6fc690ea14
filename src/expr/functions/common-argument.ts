import { AnalysisException } from '../../base/analysis-exception.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType } from '../../schema/types.ts';
import { commonType } from '../common-type.ts';
import type { CallExpression, EngineCall } from '../function-spec.ts';
import { castSql } from '../sql/cast-sql.ts';

/** The type that values of all types take where one of them is chosen; `undefined` where that is not known. */
export function commonOf(types: readonly (DataType | undefined)[]): DataType | undefined {
  return types.reduce((all, type) => (all === undefined || type === undefined ? undefined : commonType(all, type)), types[0]);
}

/** What a call's arguments have in common, NULLs left out. */
export function commonArgument(types: readonly (DataType | undefined)[], { arguments: given }: CallExpression): DataType | undefined {
  return commonOf(types.filter((_, index) => !isNull(given[index])));
}

/** The arguments, cast to the type that holds them all. */
export function widened(call: EngineCall, from: number = 0): readonly string[] {
  const types = call.types.filter((_, index) => index >= from && !isNull(call.call.arguments[index]));
  const common = commonOf(types);
  requireCommon(call.call.name, types);
  if (common === undefined || types.every((type) => isSame(type, common))) return call.args;
  return call.args.map((sql, index) => {
    const type = call.types[index];
    return index < from || type === undefined || isSame(type, common)
      ? sql
      : castSql(sql, { from: type, to: common, safe: false, zone: call.call.zone });
  });
}

/** @throws AnalysisException `DATATYPE_MISMATCH.DATA_DIFF_TYPES` 42K09 for values that have no type together. */
export function requireCommon(name: string, given: readonly (DataType | undefined)[]): void {
  const types = given.filter((type) => type !== undefined);
  // Of structs names decide, which others ask about.
  if (
    types.length === 0 ||
    types.length < given.length ||
    types.some(({ kind }) => kind === 'struct' || kind === 'variant') ||
    commonOf(types) !== undefined
  )
    return;
  throw differentTypesOf(name, types);
}

export function differentTypesOf(name: string, types: readonly (DataType | undefined)[]): AnalysisException {
  const shown = types.map((type) => `"${type === undefined ? 'VOID' : sqlTypeName(type)}"`).join(', ');
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.DATA_DIFF_TYPES',
    message: `Cannot resolve "${name}" due to data type mismatch: Input to \`${name}\` should all be the same type, but it's (${shown}).`,
    hint: 'cast the values to one type',
    parameters: { functionName: `\`${name}\``, dataType: `(${shown})` },
  });
}

function isNull(given: CallExpression['arguments'][number] | undefined): boolean {
  return given?.kind === 'literal' && given.literal.type === 'null';
}

/** Whether values of a type need no cast to another. */
export function isSame(type: DataType | undefined, other: DataType): boolean {
  if (type?.kind === 'decimal' && other.kind === 'decimal') return type.precision === other.precision && type.scale === other.scale;
  if (type?.kind === 'list' && other.kind === 'list') return isSame(type.element, other.element);
  return type?.kind === other.kind;
}
