import { expect, it } from 'vitest';
import type { AddFile } from '../../../../src/delta/actions.ts';
import { factRow } from '../../../../src/delta/scan/hidden-columns.ts';

const file: AddFile = {
  kind: 'add',
  path: 'f.parquet',
  storedPath: 'f.parquet',
  partitionValues: {},
  sizeBytes: 7,
  modifiedMs: 1_700_000_000_001,
  dataChange: true,
};

// As Spark 4 prints `_metadata.file_path` of such files.
it.each([
  ['/lake/t/p=a b%20/f.parquet', 'file:/lake/t/p=a%20b%2520/f.parquet', 'f.parquet'],
  ["/lake/ü+&'(1)!~,;@$*:=/f#?.parquet", "file:/lake/ü+&'(1)!~,;@$*:=/f%23%3F.parquet", 'f#?.parquet'],
  ['/lake/"<>\\^`{|}[]/\u00a0\u0085/😀.parquet', 'file:/lake/%22%3C%3E%5C%5E%60%7B%7C%7D%5B%5D/%C2%A0%C2%85/😀.parquet', '😀.parquet'],
  ['s3://bucket/a b/f.parquet', 's3://bucket/a%20b/f.parquet', 'f.parquet'],
])('the file %s has the URI %s', (path, uri, name) => {
  expect(factRow(file, path)).toMatchObject({
    file_path: uri,
    file_name: name,
    file_size: 7,
    file_modification_time: 1_700_000_000_001_000n,
  });
});
