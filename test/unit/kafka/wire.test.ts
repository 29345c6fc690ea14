import { describe, expect, it } from 'vitest';
import { WireWriter } from '../../../src/kafka/kafkajs/wire.ts';

describe('the pieces of a request', () => {
  it('are few, and long parts are in them as they came', () => {
    const records = new Uint8Array(5_000).fill(7);
    const body = new WireWriter();
    body.array([records, Uint8Array.of(1, 2)], (bytes) => body.bytes(bytes));
    const message = new WireWriter().int16(3).append(body);

    const pieces = message.toPieces();

    expect(pieces.map((piece) => piece.length)).toEqual([2 + 4 + 4, 5_000, 4 + 2]);
    expect(pieces[1]).toBe(records);
    expect(message.byteLength).toBe(5_016);
    expect(Buffer.concat(pieces).subarray(0, 10).toString('hex')).toBe('0003' + '00000002' + '00001388');
  });
});
