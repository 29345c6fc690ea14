import { describe, expect, it } from 'vitest';
import { cli } from './cli-support.ts';

const sink = {
  'connector.class': 'org.apache.iceberg.connect.IcebergSinkConnector',
  topics: 'orders',
  'iceberg.tables': 'shop.orders',
  'iceberg.catalog.type': 'rest',
  'iceberg.catalog.uri': 'https://rest',
};
const files = { '/work/connect.json': JSON.stringify({ name: 'orders', config: sink }) };

describe('config migrate', () => {
  it('prints a pipeline for a sink of Kafka Connect, which validate accepts', async () => {
    const flags = ['--brokers', 'k1:9092, k2:9092', '--columns', 'id:long,name:string', '--offsets', 'orders:0:7'];
    const { code, out, err } = await cli(['config', 'migrate', 'connect.json', ...flags], { files });
    expect([code, err]).toEqual([0, '']);
    expect(await cli('config validate', { files: { '/work/tidewater.yaml': out } })).toEqual({
      code: 0,
      out: 'valid: pipeline "orders", 1 tables, 1 routes, 0 feeds\n',
      err: '',
    });
  });

  it.each([
    [['missing.json'], 'CONFIG_CONNECTOR_INVALID'],
    [['connect.json', '--columns', 'id:nothing'], 'USAGE_INVALID'],
    [['connect.json', '--columns', '> <'], 'USAGE_INVALID'],
    [['connect.json', '--offsets', 'orders'], 'USAGE_INVALID'],
  ])('%j ends with an error that says what to write', async (flags, code) => {
    const run = await cli(['config', 'migrate', ...flags], { files });
    expect(run.code).toBe(2);
    expect(run.out).toBe('');
    expect(run.err).toContain(code);
    expect(run.err).toContain('hint');
  });
});
