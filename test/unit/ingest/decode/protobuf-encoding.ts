import { chosenOf, decimalText, type Encoding, isMissing, jsonText, type Meant, meantOf } from './meant.ts';

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  while (left >= 0x80n) {
    bytes.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  return Buffer.from([...bytes, Number(left)]);
}

const tagged = (number: number, wireType: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([varint(BigInt((number << 3) | wireType)), wireType === 2 ? varint(BigInt(bytes.length)) : Buffer.alloc(0), bytes]);

function float64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function protoField(number: number, meant: Meant): Buffer {
  switch (meant.kind) {
    case 'boolean':
      return tagged(number, 0, varint(meant.value ? 1n : 0n));
    case 'integer':
      return tagged(number, 0, varint(meant.value));
    case 'double':
      return tagged(number, 1, float64(meant.value));
    case 'float':
      return tagged(number, 5, float32(meant.value));
    case 'text':
      return tagged(number, 2, Buffer.from(meant.value));
    case 'bytes':
      return tagged(number, 2, meant.value);
    case 'decimal':
      return tagged(number, 2, Buffer.from(decimalText(meant.unscaled, meant.scale)));
    case 'date': {
      const [year = 0, month = 0, day = 0] = meant.text.split('-').map(Number);
      return tagged(number, 2, Buffer.concat([year, month, day].map((part, index) => tagged(index + 1, 0, varint(BigInt(part))))));
    }
    case 'timestamp': {
      const micros = ((meant.micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
      const parts = [tagged(1, 0, varint((meant.micros - micros) / 1_000_000n)), tagged(2, 0, varint(micros * 1000n))];
      return tagged(number, 2, Buffer.concat(parts));
    }
    case 'list':
      return Buffer.concat(meant.items.map((item) => protoField(number, item)));
    case 'map':
      return Buffer.concat(
        meant.entries.map(([key, value]) => tagged(number, 2, Buffer.concat([tagged(1, 2, Buffer.from(key)), protoField(2, value)]))),
      );
    case 'struct':
      return tagged(number, 2, Buffer.concat(Object.values(meant.members).map((value, index) => protoField(index + 1, value))));
    case 'symbol':
      return tagged(number, 0, varint(BigInt(meant.symbols.indexOf(meant.value))));
    case 'union':
      throw new Error('not had');
    case 'oneof': {
      const [name, value] = chosenOf(meant);
      return tagged(number, 2, protoField(Object.keys(meant.members).indexOf(name) + 1, value));
    }
  }
}

function protoType(meant: Meant, messages: string[]): string {
  switch (meant.kind) {
    case 'boolean':
      return 'bool';
    case 'integer':
      return 'int64';
    case 'text':
    case 'decimal':
      return 'string';
    case 'date':
      return 'google.type.Date';
    case 'timestamp':
      return 'google.protobuf.Timestamp';
    case 'list':
      return `repeated ${protoType(meant.of, messages)}`;
    case 'map':
      return `map<string, ${protoType(meant.of, messages)}>`;
    case 'struct': {
      const fields = Object.entries(meant.members).map(([name, value], index) => {
        const type = protoType(value, messages);
        return `${/^(repeated|map)/.test(type) ? '' : 'optional '}${type} ${name} = ${index + 1};`;
      });
      messages.push(`message S${messages.length} { ${fields.join(' ')} }`);
      return `S${messages.length - 1}`;
    }
    case 'oneof': {
      const fields = Object.entries(meant.members).map(([name, value], index) => `${protoType(value, messages)} ${name} = ${index + 1};`);
      messages.push(`message S${messages.length} { oneof one { ${fields.join(' ')} } }`);
      return `S${messages.length - 1}`;
    }
    case 'symbol':
      messages.push(`enum S${messages.length} { ${meant.symbols.map((symbol, index) => `${symbol} = ${index};`).join(' ')} }`);
      return `S${messages.length - 1}`;
    default:
      return meant.kind;
  }
}

export const protobuf: Encoding = {
  name: 'protobuf',
  lacks: { null: 'a field is there or not', union: 'a field has one type; of a oneof each type has a field' },
  write: (given) => {
    const meant = meantOf(given);
    const messages: string[] = [];
    const type = protoType(meant, messages);
    const preset = given.kind === 'default' ? ` [default = ${given.like.kind === 'symbol' ? given.like.value : jsonText(given.like)}]` : '';
    const field = given.kind === 'absent' ? '' : `${/^(repeated|map)/.test(type) ? '' : 'optional '}${type} v = 1${preset};`;
    const schema = `syntax = "${given.kind === 'default' ? 'proto2' : 'proto3'}"; import "google/protobuf/timestamp.proto"; import "google/type/date.proto"; ${messages.join(' ')} message M { ${field} }`;
    const payload = isMissing(given) ? Buffer.alloc(0) : protoField(1, given);
    return { payload, value: { kind: 'protobuf', schemas: 'given', schema, message: 'M' } };
  },
};
