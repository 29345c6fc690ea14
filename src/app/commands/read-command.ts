import { isJsonObject, type JsonObject, printJson } from '../../base/bigint-json.ts';
import type { ReadTableRequest } from '../app-commands.ts';
import { changeLinesOf, historyLines, rowLines, schemaLines } from '../read-lines.ts';
import { openAnyTable } from './open-any-table.ts';

/** Reads rows, changes, schema or history of a table, one line of JSON after the other. */
export async function readTable(request: ReadTableRequest, onLine: (line: string) => Promise<void>): Promise<void> {
  await using opened = await openAnyTable(request);
  const { table, engine } = opened;
  switch (request.what) {
    case 'rows':
      for await (const line of rowLines({ table, engine: await engine() }, request)) await onLine(line);
      return;
    case 'changes':
      for await (const line of changeLinesOf({ table, engine: await engine() }, request)) await onLine(line);
      return;
    case 'schema':
      for await (const line of schemaLines({ table }, request)) await onLine(lineOf(line, request.canonical));
      return;
    case 'history':
      for await (const line of historyLines({ table }, request)) await onLine(lineOf(line, request.canonical));
  }
}

function lineOf(value: JsonObject, canonical: boolean): string {
  return printJson(canonical ? sortedMembers(value) : value);
}

function sortedMembers(value: JsonObject): JsonObject {
  const names = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
  return Object.fromEntries(
    names.map((name) => {
      const member = value[name];
      return [name, isJsonObject(member) ? sortedMembers(member) : member];
    }),
  );
}
