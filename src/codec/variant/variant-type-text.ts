import { quotedWhenNeeded } from '../../schema/sql-type.ts';
import { foldVariant, type VariantBytes } from './fold-variant.ts';

/** A type as `schema_of_variant` has it. */
type TypeOfVariant =
  | { readonly kind: 'plain'; readonly name: string }
  | { readonly kind: 'decimal'; readonly digits: number; readonly scale: number }
  | { readonly kind: 'list'; readonly element: TypeOfVariant }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, TypeOfVariant> };

const maxDigits = 38;
const digitsOfBigint = 20;
const nothing = plain('VOID');
const anything = plain('VARIANT');
/** Pairs of plain types that a third one, or one of them, holds. */
const wider: ReadonlyMap<string, string> = new Map([
  ['BIGINT,DOUBLE', 'DOUBLE'],
  ['BIGINT,FLOAT', 'FLOAT'],
  ['DOUBLE,FLOAT', 'DOUBLE'],
  ['DATE,TIMESTAMP', 'TIMESTAMP'],
  ['DATE,TIMESTAMP_NTZ', 'TIMESTAMP_NTZ'],
  ['TIMESTAMP,TIMESTAMP_NTZ', 'TIMESTAMP'],
]);

/**
 * The type of a variant as Spark's `schema_of_variant` names it: `OBJECT<a: ARRAY<BIGINT>, b: STRING>`. Elements of several types have the type that
 * holds them all, as Spark finds it for JSON, else VARIANT.
 */
export function variantType(bytes: VariantBytes): string {
  return textOf(
    foldVariant<TypeOfVariant>(bytes, {
      nothing: () => nothing,
      boolean: () => plain('BOOLEAN'),
      integer: () => plain('BIGINT'),
      floating: (_, width) => plain(width.toUpperCase()),
      decimal: (text) => {
        const scale = text.includes('.') ? (text.replace(/0+$/, '').split('.')[1]?.length ?? 0) : 0;
        const whole = text.replace('-', '').split('.')[0]?.replace(/^0+/, '').length ?? 0;
        return { kind: 'decimal', digits: Math.max(1, whole + scale), scale };
      },
      text: () => plain('STRING'),
      binary: () => plain('BINARY'),
      date: () => plain('DATE'),
      instant: (kind) => plain(kind.toUpperCase()),
      list: (elements) => ({ kind: 'list', element: elements.reduce(common, nothing) }),
      object: (members) => ({ kind: 'object', members: new Map(members) }),
    }),
  );
}

function plain(name: string): TypeOfVariant {
  return { kind: 'plain', name };
}

function common(left: TypeOfVariant, right: TypeOfVariant): TypeOfVariant {
  if (left === nothing) return right;
  if (right === nothing) return left;
  if (left.kind === 'list' && right.kind === 'list') return { kind: 'list', element: common(left.element, right.element) };
  if (left.kind === 'object' && right.kind === 'object') return { kind: 'object', members: commonMembers(left.members, right.members) };
  if (left.kind === 'plain' && right.kind === 'plain') return commonPlain(left.name, right.name);
  return commonDecimal(left, right);
}

function commonPlain(left: string, right: string): TypeOfVariant {
  if (left === right) return plain(left);
  const name = wider.get([left, right].sort().join());
  return name === undefined ? anything : plain(name);
}

function commonDecimal(left: TypeOfVariant, right: TypeOfVariant): TypeOfVariant {
  if (
    [left, right].some((type) => type.kind === 'plain' && type.name === 'DOUBLE') &&
    [left, right].some(({ kind }) => kind === 'decimal')
  ) {
    return plain('DOUBLE');
  }
  const [one, other] = [decimalOf(left), decimalOf(right)];
  if (one === undefined || other === undefined) return anything;
  const scale = Math.max(one.scale, other.scale);
  const digits = scale + Math.max(one.digits - one.scale, other.digits - other.scale);
  return digits > maxDigits ? plain('DOUBLE') : { kind: 'decimal', digits, scale };
}

function decimalOf(type: TypeOfVariant): { readonly digits: number; readonly scale: number } | undefined {
  if (type.kind === 'decimal') return type;
  return type.kind === 'plain' && type.name === 'BIGINT' ? { digits: digitsOfBigint, scale: 0 } : undefined;
}

function commonMembers(
  left: ReadonlyMap<string, TypeOfVariant>,
  right: ReadonlyMap<string, TypeOfVariant>,
): ReadonlyMap<string, TypeOfVariant> {
  const names = [...new Set([...left.keys(), ...right.keys()])].sort();
  return new Map(names.map((name) => [name, common(left.get(name) ?? nothing, right.get(name) ?? nothing)]));
}

function textOf(type: TypeOfVariant): string {
  switch (type.kind) {
    case 'plain':
      return type.name;
    case 'decimal':
      return `DECIMAL(${type.digits},${type.scale})`;
    case 'list':
      return `ARRAY<${textOf(type.element)}>`;
    case 'object':
      return `OBJECT<${[...type.members].map(([name, member]) => `${quotedWhenNeeded(name)}: ${textOf(member)}`).join(', ')}>`;
  }
}
