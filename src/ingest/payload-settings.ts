import { z } from 'zod';
import { choiceField, textField, textListField } from '../base/setting-fields.ts';
import type { PayloadEncoding, ValueEncoding } from '../protocol/payload-encoding.ts';

const maxSchemaLength = 1_000_000;

/** How keys or values of a route are encoded. */
const payloadShape = {
  format: choiceField(['json', 'connect-json', 'avro', 'protobuf', 'csv', 'string', 'bytes'], {
    description:
      '`json`: an object; `connect-json`: what Kafka Connect’s JSON converter writes with its schemas, `{"schema", "payload"}`; `avro`: a record, by the schema that wrote it; `protobuf`: a message, by the schema that wrote it; `csv`: one line, its `fields` in a fixed order; `string` and `bytes`: the whole of it is the value of one column.',
    default: 'json',
  }),
  schemaId: choiceField(['none', 'prefix', 'header', 'single-object'], {
    description:
      'Where a record says which schema wrote it. `prefix`: the byte 0 and the id before the payload, as Confluent’s serializers write it (default of `avro` and `protobuf`; with `json` it is passed over); `header`: in a header of Confluent’s or Apicurio’s serializers; `single-object`: Avro’s mark and fingerprint of `schema`; `none`: nowhere (default of `json`).',
  }).optional(),
  schema: textField({
    description:
      'Avro schema (JSON text; `${file:/path/to/it.avsc}` reads a file) or, with `schemaId: none`, the text of a `.proto` file. With `schemaId` `none` and `single-object` it is what wrote all payloads; of Avro with a registry it is what they are read as: its aliases, defaults and promotions apply to whatever wrote them.',
    maxLength: maxSchemaLength,
  }).optional(),
  message: textField({
    description:
      'Name of the message that payloads of `protobuf` are, with or without its package. Needed with `schema`; with a registry the payload says it.',
    maxLength: 1_000,
  }).optional(),
  fields: textListField({
    description: 'Names of the fields of `csv`, all of them in their order; columns take those of their names.',
    maxItems: 10_000,
  })
    .optional()
    .meta({ maxItems: 10_000 }),
  delimiter: textField({
    description: 'What is between the fields of `csv`: one character of ASCII. Default: a comma.',
    maxLength: 1,
    pattern: /^[\t -~]$/,
    patternHint: 'one character of ASCII, not a quote',
  }).optional(),
};

type PayloadEntry = z.infer<z.ZodObject<typeof payloadShape>>;
type Report = (key: string, message: string) => void;

export const payloadSettings: z.ZodType<PayloadEncoding> = z
  .strictObject(payloadShape)
  .transform((entry, context): PayloadEncoding => encodingOf(entry, reportTo(context)));

export const valueSettings: z.ZodType<ValueEncoding> = z
  .strictObject({
    ...payloadShape,
    envelope: choiceField(['none', 'debezium'], {
      description:
        'What a value holds. `none`: the row; `debezium`: a change event, whose row fills the columns, and whose own members those named like `__op` and `__source_ts_ms`.',
      default: 'none',
    }),
    compression: choiceField(['none', 'gzip', 'zstd', 'header'], {
      description:
        'What producers have compressed each value with, besides what Kafka does to batches; `header`: the header `content-encoding` of a record says, and one without it is not compressed.',
      default: 'none',
    }),
    tombstones: choiceField(['reject', 'skip'], {
      description:
        'What becomes of records without a value when columns read it: `reject` treats them as records that do not fit, `skip` counts them. Default: `reject`; with an envelope `skip`.',
    }).optional(),
  })
  .transform(({ envelope, compression, tombstones, ...entry }, context): ValueEncoding => {
    const report = reportTo(context);
    const encoding = encodingOf(entry, report);
    const isEvent = envelope === 'debezium';
    if (isEvent && encoding.kind !== 'json' && encoding.kind !== 'connect-json' && encoding.kind !== 'avro')
      report('envelope', `change events are json, connect-json or avro, not ${encoding.kind}`);
    if (isEvent && encoding.kind === 'avro' && encoding.schemas === 'registry' && encoding.reader !== undefined)
      report('schema', 'change events are read by the schemas that wrote them; leave it out');
    const skips = (tombstones ?? (isEvent ? 'skip' : 'reject')) === 'skip';
    return {
      ...encoding,
      ...(isEvent ? { envelope } : {}),
      ...(compression === 'none' ? {} : { compression }),
      ...(skips ? { tombstones: 'skip' } : {}),
    };
  });

function reportTo(context: z.RefinementCtx): Report {
  return (key, message) => {
    context.addIssue({ code: 'custom', path: [key], message });
  };
}

function encodingOf(entry: PayloadEntry, report: Report): PayloadEncoding {
  const { format, schemaId, schema, message, fields, delimiter } = entry;
  if (format !== 'avro' && format !== 'protobuf' && schema !== undefined)
    report('schema', 'is only for payloads of format avro and protobuf');
  if (format !== 'protobuf' && message !== undefined) report('message', 'is only for payloads of format protobuf');
  if (format !== 'csv' && fields !== undefined) report('fields', 'is only for payloads of format csv');
  if (format !== 'csv' && delimiter !== undefined) report('delimiter', 'is only for payloads of format csv');
  if (format === 'csv') {
    if (schemaId !== undefined && schemaId !== 'none') report('schemaId', 'payloads of format csv have no schema');
    if (fields === undefined || fields.length === 0) report('fields', 'is required with format: csv');
    if (new Set(fields).size !== (fields ?? []).length) report('fields', 'has a name twice');
    if (delimiter === '"') report('delimiter', 'cannot be the quote');
    return { kind: 'csv', fields: fields ?? [], delimiter: delimiter ?? ',' };
  }
  if (format === 'string' || format === 'bytes' || format === 'connect-json') {
    const why = format === 'connect-json' ? 'have their schema with them' : 'have no schema';
    if (schemaId !== undefined && schemaId !== 'none') report('schemaId', `payloads of format ${format} ${why}`);
    return { kind: format };
  }
  if (format === 'json') {
    if (schemaId === 'single-object') report('schemaId', 'single-object is an encoding of Avro');
    return { kind: 'json', framed: schemaId === 'prefix' };
  }
  const idIn = schemaId ?? (schema === undefined ? 'prefix' : 'none');
  if (idIn === 'prefix' || idIn === 'header') {
    if (format === 'avro') return { kind: format, schemas: 'registry', idIn, ...(schema === undefined ? {} : { reader: schema }) };
    if (schema !== undefined)
      report('schema', `the registry has the schemas of payloads with schemaId: ${idIn}; leave it out, or set schemaId: none`);
    return { kind: format, schemas: 'registry', idIn, message };
  }
  if (schema === undefined) report('schema', `is required with schemaId: ${idIn}`);
  if (format === 'avro') return { kind: format, schemas: 'given', schema: schema ?? '', framed: idIn === 'single-object' };
  if (idIn === 'single-object') report('schemaId', 'single-object is an encoding of Avro');
  if (message === undefined) report('message', 'is required with the schema of a route');
  return { kind: format, schemas: 'given', schema: schema ?? '', message: message ?? '' };
}
