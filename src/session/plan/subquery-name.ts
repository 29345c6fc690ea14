/** Qualifier of the columns that stand for queries in expressions; no name a user writes has a blank at its end. */
export const subqueryQualifier = 'subquery ';

/** How a query is used in an expression. */
export type SubqueryForm = 'scalar' | 'exists' | 'in';

/** The form and the number of a query from the name its place in an expression has; `undefined` for names of users. */
export function subqueryOf(name: string): { readonly form: SubqueryForm; readonly key: string } | undefined {
  const match = /^(scalar|exists|in) subquery (\d+) $/u.exec(name);
  const form = match?.[1];
  const key = match?.[2];
  return (form === 'scalar' || form === 'exists' || form === 'in') && key !== undefined ? { form, key } : undefined;
}

export function subqueryName(form: SubqueryForm, key: string): string {
  return `${form} subquery ${key} `;
}
