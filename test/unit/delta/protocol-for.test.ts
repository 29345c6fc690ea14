import { describe, expect, it } from 'vitest';
import type { ProtocolAction } from '../../../src/delta/actions.ts';
import { type ProtocolRequest, protocolFor, sameProtocol, supportsFeature } from '../../../src/delta/protocol-for.ts';

const schema = { kind: 'struct', fields: [{ name: 'a', type: { kind: 'long' }, nullable: true }] } as const;

function needed(request: Partial<ProtocolRequest>): ProtocolAction {
  return protocolFor({ schema, configuration: {}, ...request });
}

function legacy(minReaderVersion: number, minWriterVersion: number): ProtocolAction {
  return { kind: 'protocol', minReaderVersion, minWriterVersion };
}

const feed = { 'delta.enableChangeDataFeed': 'true' };
const constraint = { 'delta.constraints.c': 'a > 0' };

describe('protocolFor', () => {
  it('takes a legacy version where it says exactly what is used', () => {
    expect(needed({})).toEqual(legacy(1, 2));
    expect(needed({ configuration: constraint })).toEqual(legacy(1, 3));
    expect(needed({ minReaderVersion: 2, minWriterVersion: 5 })).toEqual(legacy(2, 5));
  });

  it('names features that a legacy table gains, with all that its version stood for', () => {
    expect(needed({ current: legacy(1, 2), configuration: feed })).toEqual({
      ...legacy(1, 7),
      writerFeatures: ['appendOnly', 'invariants', 'changeDataFeed'],
    });
    const withVectors = needed({ current: legacy(1, 3), configuration: { 'delta.enableDeletionVectors': 'true' } });
    expect(withVectors).toEqual({
      ...legacy(3, 7),
      readerFeatures: ['deletionVectors'],
      writerFeatures: ['appendOnly', 'invariants', 'checkConstraints', 'deletionVectors'],
    });
    expect(needed({ current: legacy(1, 2), configuration: constraint })).toEqual(legacy(1, 3));
  });

  it('leaves a protocol alone that covers everything, odd ones too', () => {
    const odd: ProtocolAction = { ...legacy(1, 7), writerFeatures: ['changeDataFeed', 'someday'] };
    for (const current of [legacy(1, 4), legacy(1, 6), legacy(2, 5), odd]) expect(needed({ current, configuration: feed })).toBe(current);
  });

  it('keeps features it does not know and never loses a reader version', () => {
    const current: ProtocolAction = { ...legacy(3, 7), readerFeatures: [], writerFeatures: ['someday'] };
    expect(needed({ current, configuration: feed })).toEqual({
      ...legacy(3, 7),
      readerFeatures: [],
      writerFeatures: ['changeDataFeed', 'someday'],
    });
    const mapped: ProtocolAction = { ...legacy(2, 7), writerFeatures: ['columnMapping'] };
    expect(needed({ current: mapped, features: ['v2Checkpoint'] })).toEqual({
      ...legacy(3, 7),
      readerFeatures: ['columnMapping', 'v2Checkpoint'],
      writerFeatures: ['columnMapping', 'v2Checkpoint'],
    });
  });

  it('takes a feature under its preview name for the feature', () => {
    const current: ProtocolAction = { ...legacy(3, 7), readerFeatures: ['typeWidening-preview'], writerFeatures: ['typeWidening-preview'] };
    expect(needed({ current, configuration: { 'delta.enableTypeWidening': 'true' } })).toBe(current);
  });

  it('refuses version pairs that no table can have', () => {
    for (const [minReaderVersion, minWriterVersion] of [
      [3, 5],
      [2, 4],
      [4, 7],
      [1, 8],
    ] as const) {
      expect(() => needed({ minReaderVersion, minWriterVersion })).toThrow(
        expect.objectContaining({ code: 'DELTA_INVALID_PROTOCOL_VERSION', sqlState: 'KD004' }) as Error,
      );
    }
  });

  it('tells what a protocol has, whichever way it says so', () => {
    expect(supportsFeature(legacy(1, 4), 'generatedColumns')).toBe(true);
    expect(supportsFeature(legacy(1, 3), 'generatedColumns')).toBe(false);
    const named: ProtocolAction = { ...legacy(1, 7), writerFeatures: ['b', 'a'] };
    expect(sameProtocol(named, { ...named, writerFeatures: ['a', 'b'] })).toBe(true);
    expect(sameProtocol(named, { ...named, writerFeatures: ['a'] })).toBe(false);
  });
});
