import { describe, expect, it } from 'vitest';
import { type JobSpec, jobIdentity, parseJobSpec, printJobSpec } from '../../../src/maintenance/job-spec.ts';

const spec: JobSpec = { table: 'sales.orders', kind: 'compact', reason: '8 small files in "a"' };

describe('a job in a queue', () => {
  it('is read as it was written', () => {
    expect(parseJobSpec(printJobSpec(spec))).toEqual(spec);
  });

  it('is the same job whatever the reason', () => {
    expect(jobIdentity({ ...spec, kind: 'vacuum' })).not.toBe(jobIdentity(spec));
    expect(jobIdentity({ table: 'sales.orders', kind: 'compact' })).toBe(jobIdentity(spec));
  });

  it.each([
    ['[]', 'is not an object'],
    ['{"table":"t","kind":"compact","reason":"r"}', 'has version null'],
    ['{"v":2,"table":"t","kind":"compact","reason":"r"}', 'has version 2, this process knows 1'],
    ['{"v":1,"kind":"compact","reason":"r"}', 'has no "table"'],
    ['{"v":1,"table":7,"kind":"compact","reason":"r"}', 'has no "table"'],
    ['{"v":1,"table":"t","kind":"drop","reason":"r"}', 'has the unknown kind "drop"'],
    ['{"v":1,"table":"t","kind":"__proto__","reason":"r"}', 'has the unknown kind "__proto__"'],
  ])('is refused when it is %s', (text, message) => {
    const refusal = { code: 'JOB_INVALID', kind: 'invalid', message: expect.stringContaining(message) as unknown };
    expect(() => parseJobSpec(text)).toThrow(expect.objectContaining(refusal));
  });

  it('is refused without telling all of what it holds', () => {
    const long = 'x'.repeat(1_000_000);
    for (const payload of [{ v: 1, table: 't', kind: long, reason: 'r' }, { v: long }]) {
      try {
        parseJobSpec(JSON.stringify(payload));
        expect.unreachable();
      } catch (error) {
        expect(String(error).length).toBeLessThan(400);
      }
    }
  });

  it('is refused when it is no JSON', () => {
    expect(() => parseJobSpec('{')).toThrow(expect.objectContaining({ code: 'JSON_INVALID' }));
  });
});
