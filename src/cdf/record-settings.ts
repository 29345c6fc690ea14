import type { z } from 'zod';
import { choiceField } from '../base/setting-fields.ts';
import { plainRecords, type RecordSettings } from '../protocol/change-event.ts';

const encodings = ['json', 'json-schema', 'avro', 'protobuf'] as const;

/** How records are told, as the file has it. */
interface RecordEntry {
  readonly encoding?: RecordSettings['encoding'] | undefined;
  readonly keyEncoding?: RecordSettings['keyEncoding'];
  readonly cloudEventMode?: RecordSettings['cloudEventMode'] | undefined;
  readonly subjectStrategy?: RecordSettings['subjectStrategy'] | undefined;
  readonly registration?: RecordSettings['registration'] | undefined;
  readonly decimalHandling?: RecordSettings['decimals'];
  readonly timePrecision?: RecordSettings['times'];
  readonly binaryHandling?: RecordSettings['binary'] | undefined;
}

/** A feed takes what it leaves out from the defaults. */
export const recordFields: { readonly [K in keyof RecordEntry]-?: z.ZodOptional<z.ZodType<NonNullable<RecordEntry[K]>>> } = {
  encoding: choiceField(encodings, {
    description:
      'How values are encoded, and keys unless `keyEncoding` says otherwise: `json`, or `json-schema`, `avro`, `protobuf` in Confluent’s wire format with their schemas in the registry of `schemaRegistry`. Default: `json`.',
  }).optional(),
  keyEncoding: choiceField(encodings, { description: 'How keys are encoded. Default: as values.' }).optional(),
  cloudEventMode: choiceField(['structured', 'binary'], {
    description:
      'How a CloudEvent lies in a record: `structured` is JSON of attributes and data, `binary` has the attributes in headers (`ce_…`) and the data, in the feed’s encoding, as the value. Default: `structured`.',
  }).optional(),
  subjectStrategy: choiceField(['topic', 'record', 'topic-record'], {
    description:
      'Subjects of the registry: `topic` is `<topic>-key` and `<topic>-value`, `record` the full name of the record, `topic-record` both with a dash. Default: `topic`.',
  }).optional(),
  registration: choiceField(['register', 'registered', 'latest'], {
    description:
      'How schemas get their numbers: `register` registers what is new, `registered` takes those that somebody registered (the feed waits for them), `latest` the newest of the subject, which must tell records the same way. Default: `register`.',
  }).optional(),
  decimalHandling: choiceField(['precise', 'double', 'string'], {
    description:
      'Decimals, as Debezium’s `decimal.handling.mode`: `precise` are the bytes of Connect’s Decimal (in Avro the logical type, in Protobuf `confluent.type.Decimal`), `double` may lose digits, `string` has all of them. Default: `string` in JSON, `precise` in Avro and Protobuf.',
  }).optional(),
  timePrecision: choiceField(['adaptive', 'connect', 'isostring', 'text'], {
    description:
      'Dates, times and timestamps without zone, as Debezium’s `time.precision.mode`: `adaptive` are numbers that lose nothing, `connect` Connect’s own types, which end at milliseconds, `isostring` text with a `Z`, `text` without. Timestamps with zone are text in each. Default: `text` in JSON, `adaptive` in Avro and Protobuf.',
  }).optional(),
  binaryHandling: choiceField(['bytes', 'base64', 'base64-url-safe', 'hex'], {
    description: 'Binary values, as Debezium’s `binary.handling.mode`: as bytes (in JSON as base64), or as text. Default: `bytes`.',
  }).optional(),
};

export type PartialRecords = { readonly [K in keyof RecordSettings]: RecordSettings[K] | undefined };

/** The settings of records apart from the others. */
export function takeRecords<T extends RecordEntry>(all: T): readonly [PartialRecords, Omit<T, keyof RecordEntry>] {
  const { encoding, keyEncoding, cloudEventMode, subjectStrategy, registration, decimalHandling, timePrecision, binaryHandling, ...rest } =
    all;
  return [
    {
      encoding,
      keyEncoding,
      cloudEventMode,
      subjectStrategy,
      registration,
      decimals: decimalHandling,
      times: timePrecision,
      binary: binaryHandling,
    },
    rest,
  ];
}

export function completeRecords(own: PartialRecords, others: PartialRecords): RecordSettings {
  return {
    encoding: own.encoding ?? others.encoding ?? plainRecords.encoding,
    keyEncoding: own.keyEncoding ?? others.keyEncoding,
    cloudEventMode: own.cloudEventMode ?? others.cloudEventMode ?? plainRecords.cloudEventMode,
    subjectStrategy: own.subjectStrategy ?? others.subjectStrategy ?? plainRecords.subjectStrategy,
    registration: own.registration ?? others.registration ?? plainRecords.registration,
    decimals: own.decimals ?? others.decimals,
    times: own.times ?? others.times,
    binary: own.binary ?? others.binary ?? plainRecords.binary,
  };
}
