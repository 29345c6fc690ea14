import { printColumnType } from '../../expr/parse/column-type.ts';
import type { DataType } from '../../schema/types.ts';
import { quoted, textLiteral } from '../../session/execute/sql-text.ts';
import { listOf } from './connector-options.ts';
import type { RecordDraft } from './record-draft.ts';
import { RecordRow, type RowField } from './record-row.ts';
import type { Transform, TransformRule, TransformRules } from './transform-rules.ts';

const kafka = 'org.apache.kafka.connect.transforms';

/** Of transforms that change the fields of values. */
export const fieldTransforms: TransformRules = {
  [`${kafka}.ReplaceField`]: replaceField,
  [`${kafka}.MaskField`]: maskField,
  [`${kafka}.Cast`]: cast,
  [`${kafka}.ExtractField`]: extractField,
  [`${kafka}.HoistField`]: hoistField,
  [`${kafka}.Flatten`]: flatten,
  [`${kafka}.TimestampConverter`]: timestampConverter,
  'org.apache.iceberg.connect.transforms.CopyValue': copyValue,
};

const castTypes: Readonly<Record<string, DataType>> = {
  int8: { kind: 'byte' },
  int16: { kind: 'short' },
  int32: { kind: 'integer' },
  int64: { kind: 'long' },
  float32: { kind: 'float' },
  float64: { kind: 'double' },
  boolean: { kind: 'boolean' },
  string: { kind: 'string' },
};

type Outcome = ReturnType<TransformRule>;
const selected: Outcome = { became: 'select' };

function replaceField({ take }: Transform, { row }: RecordDraft): Outcome {
  const exclude = listOf(take('exclude') ?? take('blacklist') ?? '');
  const include = listOf(take('include') ?? take('whitelist') ?? '');
  const renames = listOf(take('renames') ?? '').map((item) => item.split(':').map((part) => part.trim()));
  for (const name of exclude) row.remove(name);
  if (include.length > 0)
    row.replace(
      fieldsOf(
        row,
        include.filter((name) => !exclude.includes(name)),
      ),
    );
  for (const [from = '', to = ''] of renames) {
    const field = row.field(from);
    if (field === undefined || to === '') continue;
    row.remove(from);
    row.set(to, field);
  }
  return selected;
}

function fieldsOf(row: RecordRow, names: readonly string[]): readonly (readonly [string, RowField])[] {
  return names.flatMap((name) => {
    const field = row.field(name);
    return field === undefined ? [] : [[name, field] as const];
  });
}

const numbers: ReadonlySet<DataType['kind']> = new Set(['byte', 'short', 'integer', 'long', 'float', 'double', 'decimal']);

/** Without a replacement the transform writes the empty value of the type. */
function maskField({ take }: Transform, { row }: RecordDraft): Outcome {
  const replacement = take('replacement');
  const fields = listOf(take('fields') ?? '');
  for (const name of fields) {
    const type = row.field(name)?.type;
    const value = replacement ?? (type !== undefined && numbers.has(type.kind) ? '0' : type?.kind === 'boolean' ? 'false' : '');
    const isText = type === undefined || type.kind === 'string';
    const isPlain = type !== undefined && (numbers.has(type.kind) || type.kind === 'boolean');
    const sql = isText ? textLiteral(value) : isPlain ? `CAST(${textLiteral(value)} AS ${printColumnType(type)})` : 'NULL';
    row.set(name, { sql, type });
  }
  return { became: `select${row.isKnown ? '' : ', as texts; a number is CAST(0 AS …)'}` };
}

function cast({ take }: Transform, { row }: RecordDraft): Outcome {
  const specs = listOf(take('spec') ?? '').map((item) => item.split(':').map((part) => part.trim()));
  const refused = specs.filter(([, type]) => type === undefined || castTypes[type] === undefined);
  for (const [name = '', to = ''] of specs) {
    const [type, field] = [castTypes[to], row.field(name)];
    if (type !== undefined && field !== undefined) row.set(name, { sql: `CAST(${field.sql} AS ${printColumnType(type)})`, type });
  }
  return refused.length === 0
    ? selected
    : { left: `${refused.map((spec) => spec.join(':')).join(', ')} has no field, or a type that is not known` };
}

/** What was a field becomes the row. */
function extractField({ take }: Transform, draft: RecordDraft): Outcome {
  const name = take('field') ?? '';
  const field = draft.row.field(name);
  if (field?.type?.kind !== 'struct')
    return {
      left: `the row is what is in ${name}: name its members in select (${name}.a AS a, …); for change events set value.envelope: debezium`,
    };
  draft.row.replace(field.type.fields.map((member) => [member.name, { sql: `${field.sql}.${quoted(member.name)}`, type: member.type }]));
  return selected;
}

function hoistField({ take }: Transform, draft: RecordDraft): Outcome {
  const name = take('field') ?? '';
  const format = draft.value.get('format')?.setting;
  const [only] = draft.row.record;
  if ((format === 'string' || format === 'bytes') && only !== undefined) {
    draft.row = new RecordRow([{ ...only, name }]);
    return { became: `the column ${name}` };
  }
  const { fields } = draft.row;
  if (!draft.row.isKnown) return { left: `all fields become one struct: named_struct('a', a, …) AS ${name} in select` };
  const members = fields.map(([member]) => `${textLiteral(member)}, ${draft.row.field(member)?.sql ?? 'NULL'}`);
  const types = fields.flatMap(([member, type]) => (type === undefined ? [] : [{ name: member, type, nullable: true }]));
  const type: DataType | undefined = types.length === fields.length ? { kind: 'struct', fields: types } : undefined;
  draft.row.replace([[name, { sql: `named_struct(${members.join(', ')})`, type }]]);
  return selected;
}

function flatten({ take }: Transform, draft: RecordDraft): Outcome {
  const delimiter = take('delimiter') ?? '.';
  const { row } = draft;
  if (!row.isKnown) return { left: `name the members of structs in select: customer.name AS ${quoted(`customer${delimiter}name`)}` };
  const leaves = (path: string, field: RowField): readonly (readonly [string, RowField])[] =>
    field.type?.kind === 'struct'
      ? field.type.fields.flatMap(({ name, type }) => leaves(`${path}${delimiter}${name}`, { sql: `${field.sql}.${quoted(name)}`, type }))
      : [[path, field]];
  row.replace(fieldsOf(row, row.names).flatMap(([name, field]) => leaves(name, field)));
  return selected;
}

const timeUnits: Readonly<Record<string, string>> = { seconds: 'seconds', milliseconds: 'millis', microseconds: 'micros' };

function timestampConverter({ take }: Transform, { row }: RecordDraft): Outcome {
  const [name = '', target = '', format, precision = 'milliseconds'] = [
    take('field'),
    take('target.type'),
    take('format'),
    take('unix.precision'),
  ];
  const field = row.field(name);
  const unit = timeUnits[precision];
  if (field === undefined || unit === undefined) return { left: `the field "${name}" or the precision ${precision} is not known` };
  const kind =
    field.type?.kind ??
    (format !== undefined && target !== 'string' ? 'string' : target === 'string' || target === 'unix' ? 'timestamp' : 'long');
  const isNumber = numbers.has(kind);
  const from = isNumber
    ? `timestamp_${unit}(${field.sql})`
    : kind === 'string'
      ? `to_timestamp(${field.sql}${format === undefined ? '' : `, ${textLiteral(format)}`})`
      : field.sql;
  const targets: Readonly<Record<string, RowField>> = {
    Timestamp: { sql: from, type: { kind: 'timestamp' } },
    Date: { sql: `CAST(${from} AS date)`, type: { kind: 'date' } },
    string: { sql: `date_format(${from}, ${textLiteral(format ?? '')})`, type: { kind: 'string' } },
    unix: { sql: `unix_${unit}(${from})`, type: { kind: 'long' } },
  };
  const made = targets[target];
  if (made === undefined) return { left: `the target ${target} is no type of a column here` };
  row.set(name, made);
  return { became: field.type === undefined ? `select, taking ${name} for a ${isNumber ? 'number' : kind}` : 'select' };
}

function copyValue({ take }: Transform, { row }: RecordDraft): Outcome {
  const field = row.field(take('source.field') ?? '');
  const target = take('target.field');
  if (field === undefined || target === undefined) return { left: 'its fields are not there' };
  row.insert(target, field);
  return selected;
}
