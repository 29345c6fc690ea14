import { isJsonObject, type JsonValue } from '../../base/bigint-json.ts';
import type { NameChange, TableIdent } from '../../table/table-ident.ts';
import { schemaNotFound } from '../../table/table-names.ts';
import type { RestClient, RestRequest } from './rest-client.ts';
import { failureIn, invalidAnswer } from './rest-errors.ts';

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

const statusNotFound = 404;
const statusConflict = 409;

/** Asks for a name in a namespace. @throws AnalysisException `SCHEMA_NOT_FOUND`, and as the client. */
export async function changeName(
  client: RestClient,
  request: Pick<RestRequest, 'endpoint' | 'names' | 'body'>,
  namespace: readonly string[],
  signal: AbortSignal | undefined,
): Promise<NameChange> {
  const answer = await client.request({ ...request, method: 'POST', writes: true, expected: [statusNotFound, statusConflict] }, signal);
  if (answer.status === statusConflict) return 'exists';
  if (answer.status !== statusNotFound) return 'done';
  if (failureIn(answer.status, answer.body).type === 'NoSuchNamespaceException') throw schemaNotFound(namespace);
  return 'absent';
}
