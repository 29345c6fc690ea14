import { fieldNamed } from '../../schema/column-path.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { MergeRequest } from '../../table/row-operations.ts';

/** What a MERGE with schema evolution may add: fields of the source that its `*` clauses, or assignments by name, mention. */
export function mentionedFields({ source, clauses }: MergeRequest): readonly Field[] {
  const mentioned: Field[] = [];
  for (const clause of clauses) {
    if (clause.action === 'delete' || clause.on === 'not-matched-by-source') continue;
    const given = clause.action === 'insert' ? clause.values : clause.assignments;
    if (given === 'all') return source.schema.fields;
    for (const { target } of given) mentioned.push(...fieldAt(source.schema, target));
  }
  return united(mentioned);
}

/** A field of the source by the path of an assignment's target, within structs that have nothing else. */
function fieldAt(schema: StructType, [name = '', ...members]: readonly string[]): readonly Field[] {
  const field = fieldNamed(schema.fields, name);
  if (field === undefined || members.length === 0) return field === undefined ? [] : [field];
  const inner = field.type.kind === 'struct' ? fieldAt(field.type, members) : [];
  return inner.map((member) => ({ ...field, type: { kind: 'struct', fields: [member] } }));
}

/** Fields of one name as one, with the members of all. */
function united(fields: readonly Field[]): readonly Field[] {
  const byName = new Map<string, Field>();
  for (const field of fields) {
    const key = field.name.toLowerCase();
    const known = byName.get(key)?.type;
    const { type } = field;
    const both = known?.kind === 'struct' && type.kind === 'struct' ? united([...known.fields, ...type.fields]) : undefined;
    byName.set(key, both === undefined ? field : { ...field, type: { kind: 'struct', fields: both } });
  }
  return [...byName.values()];
}
