import { describe, expect, it } from 'vitest';
import { commitRetry, manifestSettings, metadataFolder, statusCheck } from '../../../../src/iceberg/transaction/commit-settings.ts';

describe('settings of commits', () => {
  it('are those of other implementations by default', () => {
    expect(commitRetry({})).toEqual({ retries: 4, backoff: { initialMs: 100, maxMs: 60_000 }, totalMs: 1_800_000 });
    expect(statusCheck({})).toEqual({ retries: 3, backoff: { initialMs: 1_000, maxMs: 60_000 }, totalMs: 1_800_000 });
    expect(manifestSettings({})).toEqual({ merge: true, targetBytes: 8_388_608, minCountToMerge: 100 });
    expect(metadataFolder('/t/', {})).toBe('/t/metadata');
  });

  it('come from the properties of the table', () => {
    expect(commitRetry({ 'commit.retry.num-retries': '7', 'commit.retry.min-wait-ms': '5' })).toMatchObject({
      retries: 7,
      backoff: { initialMs: 5 },
    });
    expect(manifestSettings({ 'commit.manifest-merge.enabled': 'FALSE' }).merge).toBe(false);
    expect(metadataFolder('/t', { 'write.metadata.path': 's3://b/meta/' })).toBe('s3://b/meta');
  });

  it('that are no numbers are refused by name', () => {
    expect(() => commitRetry({ 'commit.retry.num-retries': 'often' })).toThrow(
      'table property "commit.retry.num-retries" must be a whole number, not "often"',
    );
  });
});
