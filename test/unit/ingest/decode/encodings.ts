import { avro } from './avro-encoding.ts';
import { bigEndian, chosenOf, type Encoding, type Given, isMissing, jsonText, type Meant, meantOf, type Written } from './meant.ts';
import { protobuf } from './protobuf-encoding.ts';

const noDefaults = 'it has no schema that could say one';

function member(given: Given, text: (meant: Meant) => string): string {
  if (given.kind === 'absent' || given.kind === 'default') return '{}';
  return `{"v":${isMissing(given) ? 'null' : text(given)}}`;
}

const json: Encoding = {
  name: 'json',
  lacks: { default: noDefaults },
  write: (given) => ({ payload: Buffer.from(member(given, jsonText)), value: { kind: 'json', framed: false } }),
};

function connectText(meant: Meant): string {
  switch (meant.kind) {
    case 'decimal':
      return JSON.stringify(bigEndian(meant.unscaled).toString('base64'));
    case 'date':
      return String(meant.days);
    case 'list':
      return `[${meant.items.map(connectText).join(',')}]`;
    case 'map':
      return `{${meant.entries.map(([key, value]) => `${JSON.stringify(key)}:${connectText(value)}`).join(',')}}`;
    case 'struct':
      return `{${Object.entries(meant.members)
        .map(([name, value]) => `${JSON.stringify(name)}:${connectText(value)}`)
        .join(',')}}`;
    case 'oneof':
      return connectText({ kind: 'struct', members: Object.fromEntries([chosenOf(meant)]) });
    default:
      return jsonText(meant);
  }
}

function connectSchema(meant: Meant): Readonly<Record<string, unknown>> {
  const optional = true;
  switch (meant.kind) {
    case 'boolean':
    case 'double':
    case 'float':
    case 'bytes':
      return { type: meant.kind, optional };
    case 'integer':
      return { type: 'int64', optional };
    case 'text':
      return { type: 'string', optional };
    case 'decimal':
      return { type: 'bytes', name: 'org.apache.kafka.connect.data.Decimal', parameters: { scale: String(meant.scale) }, optional };
    case 'date':
      return { type: 'int32', name: 'org.apache.kafka.connect.data.Date', optional };
    case 'timestamp':
      return { type: 'string', name: 'io.debezium.time.ZonedTimestamp', optional };
    case 'list':
      return { type: 'array', items: connectSchema(meant.of), optional };
    case 'map':
      return { type: 'map', keys: { type: 'string' }, values: connectSchema(meant.of), optional };
    case 'struct':
      return {
        type: 'struct',
        optional,
        fields: Object.entries(meant.members).map(([field, value]) => ({ ...connectSchema(value), field })),
      };
    case 'symbol':
      return { type: 'string', name: 'io.debezium.data.Enum', parameters: { allowed: meant.symbols.join(',') }, optional };
    case 'union':
      throw new Error('not had');
    case 'oneof':
      return connectSchema({ kind: 'struct', members: meant.members });
  }
}

const connectJson: Encoding = {
  name: 'connect-json',
  lacks: { union: 'its types have no unions', default: 'what its converter writes has every member; a null is a null' },
  write: (given) => {
    const fields = given.kind === 'absent' ? [] : [{ ...connectSchema(meantOf(given)), field: 'v' }];
    const schema = JSON.stringify({ type: 'struct', fields });
    return { payload: Buffer.from(`{"schema":${schema},"payload":${member(given, connectText)}}`), value: { kind: 'connect-json' } };
  },
};

/** The same as the row of a change event. */
function asEvent(name: string, row: Encoding, wrap: (written: Written) => Written): Encoding {
  return { name, lacks: row.lacks, write: (given) => wrap(row.write(given)) };
}

const eventOfJson = asEvent('json in change events', json, ({ payload, value }) => ({
  payload: Buffer.from(`{"before":null,"op":"c","after":${Buffer.from(payload).toString('utf8')},"source":{"lsn":1}}`),
  value: { ...value, envelope: 'debezium' },
}));

const eventOfConnect = asEvent('connect-json in change events', connectJson, ({ payload, value }) => {
  const { row, schema } = /^\{"schema":(?<schema>.*),"payload":(?<row>.*)\}$/s.exec(Buffer.from(payload).toString('utf8'))?.groups ?? {};
  const fields = `[{"type":"string","field":"op"},{"field":"after",${(schema ?? '').slice(1)}]`;
  return {
    payload: Buffer.from(`{"schema":{"type":"struct","fields":${fields}},"payload":{"op":"u","after":${row ?? ''}}}`),
    value: { ...value, envelope: 'debezium' },
  };
});

const eventOfAvro = asEvent('avro in change events', avro, ({ payload, value, writer }) => {
  const event = (row: string): string =>
    `{"type":"record","name":"Envelope","fields":[{"name":"after","type":["null",${row}]},{"name":"op","type":"string"}]}`;
  const bytes = (row: Uint8Array): Buffer => Buffer.concat([Buffer.from([2]), row, Buffer.from([2]), Buffer.from('r')]);
  if (writer !== undefined && 'reader' in value)
    return {
      payload: Buffer.concat([payload.subarray(0, 5), bytes(payload.subarray(5))]),
      value: { ...value, reader: event(value.reader ?? ''), envelope: 'debezium' },
      writer: event(writer),
    };
  const schema = event('schema' in value ? value.schema : '');
  return { payload: bytes(payload), value: { kind: 'avro', schemas: 'given', schema, framed: false, envelope: 'debezium' } };
});

const csv: Encoding = {
  name: 'csv',
  lacks: {
    absent: 'each line has all fields; an empty one is null',
    list: 'a field has no parts',
    map: 'a field has no parts',
    struct: 'a field has no parts',
    oneof: 'a field has no parts',
    union: 'a field has no type',
    default: noDefaults,
  },
  fills: { columns: /^(?!array|map|struct)/, refusal: 'DECODE_TYPE_UNSUPPORTED' },
  write: (given) => {
    const text = isMissing(given) ? '' : csvText(given);
    return { payload: Buffer.from(text), value: { kind: 'csv', fields: ['v'], delimiter: ',' } };
  },
};

function csvText(meant: Meant): string {
  const text = meant.kind === 'text' ? meant.value : meant.kind === 'date' || meant.kind === 'timestamp' ? meant.text : jsonText(meant);
  return meant.kind === 'text' ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Kinds of values that are no text and no bytes. */
const otherKinds = [
  ...(['boolean', 'integer', 'double', 'float', 'decimal', 'date', 'timestamp', 'list', 'map', 'struct', 'union', 'oneof'] as const),
  ...(['null', 'absent', 'default'] as const),
];

const whole = Object.fromEntries(otherKinds.map((kind) => [kind, 'the payload is the value']));

const string: Encoding = {
  name: 'string',
  lacks: { ...whole, bytes: 'the payload is a text' },
  fills: { columns: /^(string|binary)!?$/, refusal: 'DECODE_SPEC_INVALID' },
  write: (given) => ({
    payload: Buffer.from(given.kind === 'text' || given.kind === 'symbol' ? given.value : ''),
    value: { kind: 'string' },
  }),
};

const plainBytes: Encoding = {
  name: 'bytes',
  lacks: { ...whole, text: 'the payload is bytes', symbol: 'the payload is bytes' },
  fills: { columns: /^binary!?$/, refusal: 'DECODE_SPEC_INVALID' },
  write: (given) => ({ payload: given.kind === 'bytes' ? given.value : Buffer.alloc(0), value: { kind: 'bytes' } }),
};

export const encodings: readonly Encoding[] = [
  ...[json, connectJson, avro, protobuf, csv, string, plainBytes],
  ...[eventOfJson, eventOfConnect, eventOfAvro],
];
