import { scanColumns } from '../engine/engine.ts';
import { quoteName } from '../expr/sql/engine-text.ts';
import type { Relation } from '../table/relation.ts';
import { type ChangeFileRequest, schemaInFile } from './change-file.ts';
import { deleteCode, insertCode, postimageCode, preimageCode } from './change-order.ts';
import { isConstant } from './partition-column.ts';

/** Columns of the places: `paired` rows of one `place` follow each other by `code`. */
export const placeNames = {
  position: '__position',
  code: '__code',
  removal: '__removal',
  place: '__place',
  paired: '__paired',
} as const;

const { position, code, removal, place, paired } = placeNames;

/**
 * Where each row of a recorded file is published: what `recordedOrder` makes of rows in memory, for any number of them. The first preimage of
 * a key is the partner of its first postimage, the second of its second. Without a key it is the postimage behind it, if all images have such
 * a partner.
 */
export function placesSql(request: ChangeFileRequest, scan: Relation): Relation {
  const isKeyed = request.keyColumns.length > 0;
  const keys = isKeyed ? keysInFile(request) : [`CASE ${code} WHEN ${postimageCode} THEN ${position} - 1 ELSE ${position} END`];
  const keyNames = keys.map((_, index) => `k${index}`);
  const per = (name: string): string => [name, ...keyNames].join(', ');
  const columns = [
    `s.${scanColumns.rowPosition} AS ${position}`,
    `${codeSql(request)} AS ${code}`,
    ...keys.map((key, index) => `${key} AS k${index}`),
  ];
  const steps = {
    changes: `SELECT ${columns.join(', ')} FROM (${scan.sql}) AS s`,
    numbered:
      `SELECT *, row_number() OVER (PARTITION BY ${per(code)} ORDER BY ${position}) AS nth ` +
      `FROM changes WHERE ${code} IN (${preimageCode}, ${postimageCode})`,
    matched:
      `SELECT ${position}, ${code}, min(${position}) FILTER (WHERE ${code} = ${preimageCode}) OVER w AS preimage, count(*) OVER w = 2 AS matches ` +
      `FROM numbered WINDOW w AS (PARTITION BY ${per('nth')})`,
    partners: `SELECT *, matches${isKeyed ? '' : ' AND bool_and(matches) OVER ()'} AS ${paired} FROM matched`,
  };
  const sql =
    `WITH ${Object.entries(steps)
      .map(([name, step]) => `${name} AS (${step})`)
      .join(', ')} ` +
    `SELECT ${position}, ${code}, ${code} = ${preimageCode} AND NOT ${paired} AS ${removal}, ` +
    `CASE WHEN ${paired} THEN preimage ELSE ${position} END AS ${place}, ${paired} FROM partners ` +
    `UNION ALL SELECT ${position}, ${code}, ${code} = ${deleteCode}, ${position}, false FROM changes WHERE ${code} IN (${insertCode}, ${deleteCode})`;
  return { sql, schema: placesSchema };
}

const placesSchema: Relation['schema'] = {
  kind: 'struct',
  fields: [
    { name: position, type: { kind: 'long' }, nullable: false },
    { name: code, type: { kind: 'integer' }, nullable: false },
    { name: removal, type: { kind: 'boolean' }, nullable: false },
    { name: place, type: { kind: 'long' }, nullable: false },
    { name: paired, type: { kind: 'boolean' }, nullable: false },
  ],
};

/** Words that are no change types are found when their rows are read. */
function codeSql(request: ChangeFileRequest): string {
  const word = `s.${quoteName(schemaInFile(request).fields.at(-1)?.name ?? '')}`;
  const cases = [
    `WHEN 'delete' THEN ${deleteCode}`,
    `WHEN 'update_preimage' THEN ${preimageCode}`,
    `WHEN 'update_postimage' THEN ${postimageCode}`,
  ];
  return `CASE ${word} ${cases.join(' ')} ELSE ${insertCode} END`;
}

/** Key columns that the log gives the value of are the same in all rows of the file. */
function keysInFile({ file, keyColumns }: ChangeFileRequest): readonly string[] {
  return keyColumns.filter((name) => !isConstant(file, name)).map((name) => `s.${quoteName(name)}`);
}
