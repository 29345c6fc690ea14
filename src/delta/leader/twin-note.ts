import { isJsonObject, type JsonValue, parseJson, printJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { ColumnIds } from '../../schema/column-ids.ts';
import type { TwinNote } from '../../table/twin.ts';

/** Table property by which a table knows that another one shares its files. Not `delta.`: other engines carry it along and ask nothing of it. */
export const twinProperty = 'tidewater.twin';

/** The note of the table itself: a clone has copied it with the other properties, and shares its files with nobody. */
export function twinNoteOf(table: { readonly id: string; readonly configuration: Readonly<Record<string, string>> }): TwinNote | undefined {
  const text = Object.hasOwn(table.configuration, twinProperty) ? table.configuration[twinProperty] : undefined;
  const json = text === undefined ? undefined : parsed(text);
  if (!isJsonObject(json) || json['leader'] !== table.id) return undefined;
  const [name, ids] = [json['table'], json['columnIds']];
  return { table: typeof name === 'string' ? name : '', columnIds: Array.isArray(ids) ? (ids as readonly JsonValue[]).flatMap(idOf) : [] };
}

export function printTwinNote(tableId: string, { table, columnIds }: TwinNote): string {
  return printJson({ leader: tableId, table, columnIds: columnIds.map(([path, id]) => [[...path], id]) });
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text, twinProperty);
  } catch (error) {
    if (isServiceError(error, 'corrupt')) return undefined;
    throw error;
  }
}

function idOf(entry: JsonValue): ColumnIds {
  if (!Array.isArray(entry)) return [];
  const [path, id] = entry as readonly JsonValue[];
  if (!Array.isArray(path) || typeof id !== 'number') return [];
  return [[(path as readonly JsonValue[]).map(String), id]];
}
