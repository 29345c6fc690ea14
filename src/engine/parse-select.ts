import { isJsonObject, type JsonValue, parseJson, printJson } from '../base/bigint-json.ts';
import { ServiceError } from '../base/errors.ts';

/** The tree in the engine's answer to a request to parse. @throws ServiceError `ENGINE_QUERY_INVALID` with the 0-based position. */
export function treeOf(answer: string): JsonValue {
  const tree = parseJson(answer, 'the tree of a query');
  if (!isJsonObject(tree)) throw new ServiceError({ code: 'ASSERTION_FAILED', kind: 'internal', message: 'a parsed query is no object' });
  if (tree['error'] !== true) return tree;
  const message = typeof tree['error_message'] === 'string' ? tree['error_message'] : 'the query cannot be parsed';
  const position = Number(tree['position']);
  throw new ServiceError({
    code: 'ENGINE_QUERY_INVALID',
    kind: 'invalid',
    message: message.replace(/^Parser Error: /u, ''),
    context: Number.isInteger(position) ? { position } : {},
  });
}

/** The text of a tree, to be printed back to SQL. */
export function treeText(tree: unknown): string {
  return printJson(tree as JsonValue);
}
