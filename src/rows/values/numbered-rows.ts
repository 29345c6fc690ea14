import type { Relation } from '../../table/relation.ts';

/** The given rows with names that their places give them: names that queries make may be there twice. */
export function numbered(given: Relation): Relation {
  const fields = given.schema.fields.map((field, index) => ({ ...field, name: `__given_${index}` }));
  const names = fields.map((_, index) => givenName(index));
  return { sql: `SELECT * FROM (${given.sql}) AS given(${names.join(', ')})`, schema: { kind: 'struct', fields } };
}

export function givenName(place: number): string {
  return `"__given_${place}"`;
}
