import { z } from 'zod';
import { isServiceError } from '../base/errors.ts';
import { booleanField, choiceField, textField } from '../base/setting-fields.ts';
import { parseColumnType, printColumnType } from '../expr/parse/column-type.ts';
import type { ColumnSource } from '../protocol/sealed-batch.ts';
import type { DataType, StructType } from '../schema/types.ts';

export const maxColumns = 2_000;

/** A column, and what of a record fills it. */
export interface ColumnSettings {
  readonly name: string;
  readonly type: DataType;
  readonly nullable: boolean;
  readonly source: ColumnSource;
}

/** Types a column may have that is filled from the record rather than from its payload. */
const metadataTypes: Readonly<Record<Exclude<ColumnSource['kind'], 'value' | 'tombstone' | 'absent'>, readonly string[]>> = {
  key: ['string', 'binary'],
  headers: ['map<string,binary>', 'map<string,string>'],
  topic: ['string'],
  partition: ['integer'],
  offset: ['long'],
  timestamp: ['timestamp'],
  rescue: ['string'],
};

const columnType: z.ZodType<DataType> = z
  .string({ error: 'expected a column type such as long or struct<a:long,b:string>' })
  .transform((text, context) => {
    try {
      return parseColumnType(text);
    } catch (error) {
      if (!isServiceError(error, 'invalid')) throw error;
      context.addIssue({ code: 'custom', message: `${error.message}; ${error.hint ?? ''}` });
      return z.NEVER;
    }
  })
  .meta({
    description:
      'Type: boolean, byte, short, integer, long, float, double, decimal(p,s), string, binary, date, timestamp, timestamp_ntz, array<t>, map<k,v>, struct<name:t,…>; `not null` after a nested type makes it required.',
    examples: ['long', 'decimal(12,2)', 'struct<a:long,b:string>', 'array<string>', 'map<string,long>'],
  });

export const columnSettings: z.ZodType<ColumnSettings> = z
  .strictObject({
    name: textField({ description: 'Column name.', maxLength: 255 }),
    type: columnType,
    nullable: booleanField({ description: 'False: a record without the value is a dead letter.', default: true }),
    from: choiceField(['value', 'key', 'headers', 'topic', 'partition', 'offset', 'timestamp', 'rescue'], {
      description:
        'What of the record fills the column: a member of its value, or the record’s key (or a `member` of it), headers, topic, partition, offset or timestamp; `rescue`: members of a JSON value that no column takes, and values that do not fit their nullable column, as one JSON object.',
      default: 'value',
    }),
    member: textField({
      description:
        'Member of the value, when it is not called like the column; with `from: key` the member of the key. Members of members are no columns: take the outer one as a struct. A name that has a dot or a bracket in it stands between backticks.',
      maxLength: 255,
    }).optional(),
  })
  .transform((raw, context): ColumnSettings => {
    const { name, type, nullable, from, member } = raw;
    if (from === 'value') {
      if (member !== undefined && memberName(member) === undefined)
        context.addIssue({ code: 'custom', path: ['member'], message: pathRefused(member) });
      return { name, type, nullable, source: { kind: 'value', name: member === undefined ? name : (memberName(member) ?? member) } };
    }
    if (from === 'key' && member !== undefined) {
      if (memberName(member) === undefined) context.addIssue({ code: 'custom', path: ['member'], message: pathRefused(member) });
      return { name, type, nullable, source: { kind: 'key', name: memberName(member) ?? member } };
    }
    if (member !== undefined) context.addIssue({ code: 'custom', path: ['member'], message: `a column from the ${from} has no member` });
    const allowed = metadataTypes[from];
    const actual = printColumnType(type).replaceAll(' not null', '');
    if (!allowed.includes(actual)) {
      context.addIssue({
        code: 'custom',
        path: ['type'],
        message: `a column from the ${from} has type ${allowed.join(' or ')}, not ${actual}`,
      });
    }
    if (from === 'rescue' && !nullable)
      context.addIssue({
        code: 'custom',
        path: ['nullable'],
        message: 'a column from the rescue is null where there is nothing to rescue',
      });
    return { name, type, nullable, source: { kind: from } };
  });

/** The member that a text names; `undefined`: it is written like a path into members of members, which are not read. */
function memberName(text: string): string | undefined {
  const quoted = /^`((?:[^`]|``)+)`$/.exec(text)?.[1];
  if (quoted !== undefined) return quoted.replaceAll('``', '`');
  return /[.[\]]|^[$/]/.test(text) ? undefined : text;
}

function pathRefused(text: string): string {
  const outer = /[^$./[\]]+/.exec(text)?.[0] ?? text;
  return `"${text}" is written like a path, and only members of the record's own object are read; take "${outer}" as a struct column, or write \`${text}\` in backticks when that is the member's whole name`;
}

export function schemaOfColumns(columns: readonly ColumnSettings[]): StructType {
  return { kind: 'struct', fields: columns.map(({ name, type, nullable }) => ({ name, type, nullable })) };
}
