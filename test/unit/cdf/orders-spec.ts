import type { EncodeSpec } from '../../../src/protocol/change-event.ts';
import { plainRecords } from '../../../src/protocol/change-event.ts';

/** A feed of a table of orders, as its encoder is told of it. */
export const ordersSpec: EncodeSpec = {
  pipeline: 'demo',
  envelope: 'debezium',
  records: plainRecords,
  schemas: false,
  select: [],
  where: undefined,
  topic: 'cdf.orders',
  partitions: 1,
  keyColumns: ['id'],
  tombstones: true,
  transactions: false,
  truncates: false,
  table: 'sales.orders',
  tableId: 'table-1',
  format: 'delta',
  location: 'memory://orders',
  compression: 'none',
};
