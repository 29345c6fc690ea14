import { describe, expect, it } from 'vitest';
import { dataFilePath } from '../../../../src/table/partitioning/spread-path.ts';

describe('dataFilePath', () => {
  it('cuts a directory that no file system would take, and not within an escape', () => {
    const path = dataFilePath(undefined, `p=${'%C3%A9'.repeat(100)}/q=1`, 'f.parquet');
    const [first = '', ...rest] = path.split('/');
    expect(rest).toEqual(['q=1', 'f.parquet']);
    expect(first.length).toBeLessThanOrEqual(200);
    expect(first).toBe(`p=${'%C3%A9'.repeat(33)}`);
  });

  it('leaves directories out that would make a path too long for an object store', () => {
    const directories = ['a', 'b', 'c', 'd'].map((name) => `${name}=${'x'.repeat(190)}`);
    expect(dataFilePath(undefined, directories.join('/'), 'f.parquet')).toBe([...directories.slice(0, 3), 'f.parquet'].join('/'));
  });

  it('keeps short paths as they are', () => {
    expect(dataFilePath(undefined, 'p=1/q=a%2Fb', 'f.parquet')).toBe('p=1/q=a%2Fb/f.parquet');
    expect(dataFilePath(undefined, '', 'f.parquet')).toBe('f.parquet');
  });
});
