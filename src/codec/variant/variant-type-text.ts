import { foldVariant, type VariantBytes } from './fold-variant.ts';

/** The type of a variant as Spark's `schema_of_variant` names it: `OBJECT<a: ARRAY<BIGINT>, b: STRING>`; elements of several types are VARIANT. */
export function variantType(bytes: VariantBytes): string {
  return foldVariant<string>(bytes, {
    nothing: () => 'VOID',
    boolean: () => 'BOOLEAN',
    integer: () => 'BIGINT',
    floating: (_, width) => width.toUpperCase(),
    decimal: (text) => {
      const scale = text.includes('.') ? (text.replace(/0+$/, '').split('.')[1]?.length ?? 0) : 0;
      const whole = text.replace('-', '').split('.')[0]?.replace(/^0+/, '').length ?? 0;
      return `DECIMAL(${Math.max(1, whole + scale)},${scale})`;
    },
    text: () => 'STRING',
    binary: () => 'BINARY',
    date: () => 'DATE',
    instant: (kind) => kind.toUpperCase(),
    list: (elements) => `ARRAY<${elements.reduce<string | undefined>(common, undefined) ?? 'VOID'}>`,
    object: (members) => `OBJECT<${members.map(([name, type]) => `${shown(name)}: ${type}`).join(', ')}>`,
  });
}

function common(left: string | undefined, right: string): string {
  if (left === undefined || left === 'VOID') return right;
  return right === 'VOID' || left === right ? left : 'VARIANT';
}

function shown(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``;
}
