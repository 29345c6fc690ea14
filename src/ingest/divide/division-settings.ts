import { z } from 'zod';
import { choiceField, integerField, textField, textListField } from '../../base/setting-fields.ts';
import type { DivisionKey, DivisionOfTable, DivisionPart, DivisionSpec, DivisionTemplate } from '../../protocol/division.ts';
import { type TransformSettings, transformShape } from '../transform/transform-settings.ts';
import { patternProblem } from '../whole-pattern.ts';

const maxParts = 256;
const maxValues = 1_000;
const maxPathLength = 16;

/** One table of a divided route. */
export interface PartEntry extends DivisionPart, TransformSettings {}

/** What makes tables for the keys that no listed one takes. */
export interface TemplateEntry extends Pick<DivisionTemplate, 'table' | 'like' | 'max'>, TransformSettings {}

/** `divide` of a route as the file has it. */
export interface DivisionEntry {
  readonly key: DivisionKey;
  readonly unmatched: DivisionSpec['unmatched'];
  readonly parts: readonly PartEntry[];
  readonly template: TemplateEntry | undefined;
}

const part: z.ZodType<PartEntry> = z
  .strictObject({
    table: textField({ description: 'Table that takes them; a name from `tables`.', maxLength: 255 }),
    values: textListField({ description: 'Keys of the records that it takes.', default: [], maxItems: maxValues }),
    pattern: textField({
      description: 'Regular expression that the whole key matches, beside `values`. Keys of more than 1,000 characters match none.',
      maxLength: 1_000,
    }).optional(),
    ...transformShape,
  })
  .superRefine(({ values, pattern }, context) => {
    if (values.length === 0 && pattern === undefined)
      context.addIssue({ code: 'custom', path: [], message: 'must have at least one of values, or a pattern' });
    const problem = pattern === undefined ? undefined : patternProblem(pattern, 'u');
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['pattern'], message: problem });
  });

const template: z.ZodType<TemplateEntry> = z.strictObject({
  table: textField({
    description:
      'Name of such a table; `{key}` stands for the key in lower case, with `_` for every character other than letters of ASCII, digits and underscores. It lies beside the table it is made like: in the same directory, or namespace of its catalog.',
    maxLength: 100,
    pattern: /^(?:[a-z0-9_][a-z0-9_-]*)?\{key\}[a-z0-9_-]*$/,
    patternHint: 'must have {key} in it once, and else lower case letters, digits, underscores and hyphens',
  }),
  like: textField({
    description:
      'Table of `tables` that they are made like: format, columns, partitioning, properties, evolution. It gets no rows itself; what no table takes is handled with it.',
    maxLength: 255,
  }),
  max: integerField({
    description: 'So many tables are made at most; records of further keys are those that no table takes.',
    default: 50,
    min: 1,
    max: maxParts,
    unit: 'tables',
  }),
  ...transformShape,
});

/** The names between the dots; between backticks they may have some. Empty for what is no path. */
function pathOf(member: string): readonly string[] {
  const names = [...member.matchAll(/(?<=^|\.)(?:`([^`]+)`|([^.`]+))(?=\.|$)/gu)];
  const whole = names.map(([name]) => name).join('.');
  return whole === member ? names.map(([, quoted, plain]) => quoted ?? plain ?? '') : [];
}

export const divisionSettings: z.ZodType<DivisionEntry> = z
  .strictObject({
    member: textField({
      description:
        'Member of the value that says which table a record is for; `a.b` is member `b` of `a`, and a name that has a dot in it stands between backticks. With an envelope it is a column of the row, or one of the event’s own such as `__table`.',
      maxLength: 1_000,
    }).optional(),
    type: choiceField(['string', 'long', 'boolean'], {
      description: 'Type of the `member`; numbers and booleans are compared by their text.',
      default: 'string',
    }),
    header: textField({ description: 'Header that says it; of several of the name the last.', maxLength: 1_000 }).optional(),
    by: choiceField(['record-type', 'topic'], {
      description:
        '`topic`: the name of the topic. `record-type`: the full name of the schema that the value names, with `avro` and `protobuf` of a registry; of JSON Schema (`json` with `schemaId: prefix`) its title.',
    }).optional(),
    unmatched: choiceField(['reject', 'suspend', 'skip'], {
      description:
        'What becomes of records that no table takes: `reject` treats them as records that do not fit the first table (with a `template`: the one it is made like), `suspend` stops that table there, `skip` counts and drops them.',
      default: 'reject',
    }),
    tables: z.array(part).max(maxParts).prefault([]).meta({
      description: 'What each table takes. The first that fits takes a record. At least one, or a `template`.',
      default: [],
      maxItems: maxParts,
    }),
    template: template.optional().meta({
      description:
        'Makes a table for each key that none of `tables` takes, when its first record comes, as `iceberg.tables.dynamic-enabled` and `table.name.format` of sinks do.',
    }),
  })
  .transform(({ member, type, header, by, unmatched, tables, template: made }, context): DivisionEntry => {
    const keys: DivisionKey[] = [];
    if (member !== undefined) keys.push({ kind: 'member', path: pathOf(member), type });
    if (header !== undefined) keys.push({ kind: 'header', name: header });
    if (by !== undefined) keys.push({ kind: by });
    const [key, ...others] = keys;
    if (key === undefined || others.length > 0)
      context.addIssue({ code: 'custom', path: [], message: 'must have one of member, header and by' });
    if (key?.kind === 'member' && (key.path.length === 0 || key.path.length > maxPathLength))
      context.addIssue({ code: 'custom', path: ['member'], message: `is no name of a member, or has more than ${maxPathLength} parts` });
    if (tables.length === 0 && made === undefined)
      context.addIssue({ code: 'custom', path: ['tables'], message: 'must have at least one table; or set template' });
    return { key: key ?? { kind: 'record-type' }, unmatched, parts: tables, template: made };
  });

/** Routes that say whether they have tables with a row for each key. The tables of one have one specification, which is made anew once. */
export function withKeyedDivisions<Route extends { readonly divided?: DivisionOfTable | undefined }>(
  routes: readonly Route[],
  keyed: ReadonlySet<string>,
): readonly Route[] {
  const known = new Map<DivisionSpec, DivisionSpec>();
  return routes.map((route) => {
    const { divided } = route;
    if (divided === undefined || !divided.spec.parts.some(({ table }) => keyed.has(table))) return route;
    const spec = known.get(divided.spec) ?? { ...divided.spec, keyed: true };
    known.set(divided.spec, spec);
    return { ...route, divided: { ...divided, spec } };
  });
}
