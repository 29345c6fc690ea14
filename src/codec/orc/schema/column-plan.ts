import type { DataType, Field, StructType } from '../../../schema/types.ts';
import { attribute } from './attributes.ts';
import type { OrcType } from './orc-type.ts';

/** The field id of a column by its names from the root; `undefined` for none. */
export type NameToId = (path: readonly string[]) => number | undefined;

/** From where a field's values come: nowhere (nulls), or a column of the file with plans for its parts. */
export type ColumnPlan = AbsentPlan | ValuePlan;

interface AbsentPlan {
  readonly kind: 'absent';
  readonly type: DataType;
}

export interface ValuePlan {
  readonly kind: 'value';
  readonly type: DataType;
  readonly orc: OrcType;
  /** One a field of a struct; element of a list; key and value of a map. */
  readonly parts: readonly ColumnPlan[];
}

export interface StructPlan {
  readonly parts: readonly ColumnPlan[];
}

interface PlanContext {
  /** The file, for errors. */
  readonly place: string;
  readonly nameToId: NameToId | undefined;
  readonly absent: (id: number) => void;
}

/** How a column of the file is found for a field or a part of a list or map. */
type Finder = (parent: OrcType, parentPath: readonly string[], wanted: Wanted) => Found | undefined;

interface Found {
  readonly orc: OrcType;
  readonly path: readonly string[];
}

interface Wanted {
  readonly name: string;
  readonly id?: number | undefined;
}

/** Finds for each field of a struct its column. Types are compared when the columns are opened. */
export function planStruct(orc: OrcType, type: StructType, context: PlanContext): StructPlan {
  const { parts } = planValue(orc, [], type, { find: finderFor(orc, context.nameToId), absent: context.absent });
  return { parts };
}

interface Planner {
  readonly find: Finder;
  readonly absent: (id: number) => void;
}

function planValue(orc: OrcType, path: readonly string[], type: DataType, planner: Planner): ValuePlan {
  return { kind: 'value', type, orc, parts: planParts(orc, path, type, planner) };
}

function planParts(orc: OrcType, path: readonly string[], type: DataType, planner: Planner): readonly ColumnPlan[] {
  switch (type.kind) {
    case 'struct':
      return orc.kind === 'struct' ? type.fields.map((field) => planMember(orc, path, field, planner)) : [];
    case 'list':
      return orc.kind === 'list' ? [planPart(orc, path, 0, type.element, planner)] : [];
    case 'map':
      return orc.kind === 'map' ? [planPart(orc, path, 0, type.key, planner), planPart(orc, path, 1, type.value, planner)] : [];
    default:
      return [];
  }
}

function planMember(orc: OrcType, path: readonly string[], field: Field, planner: Planner): ColumnPlan {
  const found = planner.find(orc, path, field);
  if (found !== undefined) return planValue(found.orc, found.path, field.type, planner);
  if (field.id !== undefined) planner.absent(field.id);
  return { kind: 'absent', type: field.type };
}

/** Lists and maps have their parts at fixed places. */
function planPart(orc: OrcType, path: readonly string[], index: number, type: DataType, planner: Planner): ColumnPlan {
  const child = orc.children[index];
  return child === undefined ? { kind: 'absent', type } : planValue(child, [...path, orc.names[index] ?? ''], type, planner);
}

function finderFor(root: OrcType, nameToId: NameToId | undefined): Finder {
  if (hasIds(root)) return findBy((orc) => idOf(orc));
  if (nameToId !== undefined) return findBy((_, path) => nameToId(path));
  return findByName;
}

function findBy(idAt: (orc: OrcType, path: readonly string[]) => number | undefined): Finder {
  const known = new Map<OrcType, ReadonlyMap<number, Found>>();
  return (parent, parentPath, { id }) => {
    if (id === undefined) return undefined;
    const children = known.get(parent) ?? childrenById(parent, parentPath, idAt);
    known.set(parent, children);
    return children.get(id);
  };
}

function childrenById(
  parent: OrcType,
  parentPath: readonly string[],
  idAt: (orc: OrcType, path: readonly string[]) => number | undefined,
): ReadonlyMap<number, Found> {
  const children = new Map<number, Found>();
  for (const [index, orc] of parent.children.entries()) {
    const path = [...parentPath, parent.names[index] ?? ''];
    const id = idAt(orc, path);
    if (id !== undefined && !children.has(id)) children.set(id, { orc, path });
  }
  return children;
}

const findByName: Finder = (parent, parentPath, { name }) => {
  const orc = parent.children[parent.names.indexOf(name)];
  return orc === undefined ? undefined : { orc, path: [...parentPath, name] };
};

/** The field id that the file gives to a column. */
function idOf(orc: OrcType): number | undefined {
  const text = orc.attributes.get(attribute.id);
  const id = text === undefined ? Number.NaN : Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}

function hasIds(orc: OrcType): boolean {
  return orc.attributes.has(attribute.id) || orc.children.some(hasIds);
}
