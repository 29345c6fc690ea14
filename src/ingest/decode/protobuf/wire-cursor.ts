/** Thrown where bytes are not Protobuf's wire format; the record is rejected. */
export class WireFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WireFault';
  }
}

/** How a value is written, the last three bits of a tag. */
export const wire = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/** Groups inside of groups that are passed over. */
const maxGroupDepth = 100;
const maxFieldNumber = 2 ** 29;

/** Reads Protobuf's wire format from a range of bytes. Positions are those of the bytes. @throws WireFault from every read that passes the end. */
export class WireCursor {
  bytes: Uint8Array;
  view: DataView;
  at = 0;
  end = 0;
  /** Of the varint read last, as 32-bit words. */
  low = 0;
  high = 0;
  /** Of the tag read last. */
  number = 0;
  wireType = 0;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = bytes.length;
  }

  load(bytes: Uint8Array, start: number, end: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.at = start;
    this.end = end;
  }

  /** Into `low` and `high`. At most ten bytes, of which the last has one bit. */
  varint(): void {
    const { bytes, end } = this;
    let { at } = this;
    let byte = at < end ? (bytes[at] ?? 0) : -1;
    if (byte >= 0 && byte < 0x80) {
      this.low = byte;
      this.high = 0;
      this.at = at + 1;
      return;
    }
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= end) throw new WireFault('a number passes the end');
      byte = bytes[at] ?? 0;
      at += 1;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else if (shift < 63) high |= bits << (shift - 32);
      else if (bits > 1) throw new WireFault('a number has more than 64 bits');
      else high |= bits << 31;
      if (byte < 0x80) break;
      if (shift === 63) throw new WireFault('a number has more than ten bytes');
    }
    this.low = low;
    this.high = high;
    this.at = at;
  }

  /** A varint that is a number of bytes of what follows. */
  length(): number {
    this.varint();
    const size = this.low >>> 0;
    if (this.high !== 0 || size > this.end - this.at)
      throw new WireFault(`a value of ${this.high === 0 ? size : 'too many'} bytes passes the end`);
    return size;
  }

  /** Into `number` and `wireType`. */
  tag(): void {
    this.varint();
    const tag = this.low >>> 0;
    this.number = tag >>> 3;
    this.wireType = tag & 7;
    if (this.high !== 0 || this.number === 0 || this.number >= maxFieldNumber) throw new WireFault('a field has no possible number');
  }

  /** Goes behind the value whose tag was read. */
  skip(depth = 0): void {
    switch (this.wireType) {
      case wire.varint:
        this.varint();
        return;
      case wire.fixed64:
        this.#advance(8);
        return;
      case wire.fixed32:
        this.#advance(4);
        return;
      case wire.bytes:
        this.#advance(this.length());
        return;
      case wire.startGroup:
        this.#skipGroup(depth);
        return;
      default:
        throw new WireFault(`field ${this.number} has the wire type ${this.wireType}, which is none`);
    }
  }

  #skipGroup(depth: number): void {
    if (depth >= maxGroupDepth) throw new WireFault(`groups nest deeper than ${maxGroupDepth} levels`);
    const { number } = this;
    for (;;) {
      this.tag();
      if (this.wireType === wire.endGroup) {
        if (this.number !== number) throw new WireFault(`the group ${number} ends as ${this.number}`);
        return;
      }
      this.skip(depth + 1);
    }
  }

  #advance(count: number): void {
    if (this.end - this.at < count) throw new WireFault('a number passes the end');
    this.at += count;
  }

  /** As `low` and `high`. */
  fixed64(): void {
    const { at } = this;
    this.#advance(8);
    this.low = this.view.getInt32(at, true);
    this.high = this.view.getInt32(at + 4, true);
  }

  /** As `low`; `high` zero. */
  fixed32(): void {
    const { at } = this;
    this.#advance(4);
    this.low = this.view.getInt32(at, true);
    this.high = 0;
  }

  float(): number {
    const { at } = this;
    this.#advance(4);
    return this.view.getFloat32(at, true);
  }

  double(): number {
    const { at } = this;
    this.#advance(8);
    return this.view.getFloat64(at, true);
  }
}
