import { isJsonObject, type JsonValue } from '../../base/bigint-json.ts';
import type { TableIdent } from '../../table/table-ident.ts';
import { invalidAnswer } from './rest-errors.ts';

/** A table's or view's name as the protocol has it. */
export function identJson(ident: TableIdent): { readonly namespace: readonly string[]; readonly name: string } {
  return { namespace: ident.namespace, name: ident.name };
}

/** The name in an item of a list of identifiers. @throws ServiceError `REST_CATALOG_ANSWER_INVALID`. */
export function nameIn(entry: JsonValue, endpoint: string): string {
  const name = isJsonObject(entry) ? entry['name'] : undefined;
  if (typeof name !== 'string') throw invalidAnswer(`GET ${endpoint}`, 'has an identifier without a name');
  return name;
}
