import { corruptOrc } from '../orc-errors.ts';
import type { OrcKind } from '../proto/numbers.ts';
import type { StoredType } from '../proto/tail.ts';

/** A column of a file with what is in it. */
export interface OrcType {
  /** Number of the column in the file, in depth-first order; the root is 0. */
  readonly column: number;
  readonly kind: OrcKind;
  /** Names of the members of a struct; `element` of a list; `key` and `value` of a map. */
  readonly names: readonly string[];
  readonly children: readonly OrcType[];
  /** Of a decimal. */
  readonly precision: number;
  readonly scale: number;
  /** Free notes of the writer; Iceberg keeps field ids here (Iceberg spec: ORC). */
  readonly attributes: ReadonlyMap<string, string>;
  /** Dotted names from the root, for messages. */
  readonly path: string;
}

const maxDepth = 100;
const defaultPrecision = 38;
const defaultScale = 10;

/**
 * The types of a file as a tree.
 *
 * @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt) when they are no tree, or a type has not the parts of its kind.
 */
export function orcTypeTree(types: readonly StoredType[], place: string): OrcType {
  const used = new Set<number>();
  const build = (column: number, path: string, depth: number): OrcType => {
    const stored = types[column];
    if (stored === undefined || used.has(column)) throw corruptOrc(place, `type ${column} is missing or used twice`);
    if (depth > maxDepth) throw corruptOrc(place, `types are nested deeper than ${maxDepth}`);
    used.add(column);
    const names = childNames(stored, column, place);
    const children = stored.subtypes.map((subtype, index) => {
      if (subtype <= column) throw corruptOrc(place, `type ${column} contains type ${subtype}, which is before it`);
      return build(subtype, path === '' ? (names[index] ?? '') : `${path}.${names[index] ?? ''}`, depth + 1);
    });
    const { kind, attributes } = stored;
    // Before types had digits every decimal was decimal(38,10).
    const { precision, scale } = digitsOf(stored);
    if (precision < 1 || precision > 38 || scale > precision) throw corruptOrc(place, `type ${column} is decimal(${precision},${scale})`);
    return { column, kind, names, children, precision, scale, attributes, path };
  };
  const root = build(0, '', 0);
  if (root.kind !== 'struct') throw corruptOrc(place, `the root is a ${root.kind} instead of a struct`);
  return root;
}

function digitsOf({ kind, precision, scale }: StoredType): { readonly precision: number; readonly scale: number } {
  if (kind !== 'decimal') return { precision: 1, scale: 0 };
  return {
    precision: precision === undefined || precision === 0 ? defaultPrecision : precision,
    scale: scale ?? (precision === undefined ? defaultScale : 0),
  };
}

function childNames(stored: StoredType, column: number, place: string): readonly string[] {
  const names = namesOf(stored);
  if (names.length !== stored.subtypes.length) {
    throw corruptOrc(place, `type ${column} (${stored.kind}) has ${stored.subtypes.length} parts instead of ${names.length}`);
  }
  return names;
}

function namesOf(stored: StoredType): readonly string[] {
  switch (stored.kind) {
    case 'struct':
      return stored.fieldNames;
    case 'list':
      return ['element'];
    case 'map':
      return ['key', 'value'];
    case 'union':
      return stored.subtypes.map((_, index) => `tag${index}`);
    default:
      return [];
  }
}
