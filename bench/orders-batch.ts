import { SeededRandom } from '../src/base/seeded-random.ts';
import { buildBatch, type InputRow } from '../src/codec/build-columns.ts';
import type { ColumnBatch } from '../src/schema/columns.ts';
import type { DataType, Field, StructType } from '../src/schema/types.ts';

const statuses = ['created', 'paid', 'packed', 'shipped', 'delivered', 'returned'];
const cities = ['Oslo', 'Berlin', 'Lisbon', 'Toronto', 'Nagoya', 'Austin', 'Lyon', 'Krakow', 'Leeds', 'Turin', 'Quito', 'Perth'];
const countries = ['NO', 'DE', 'PT', 'CA', 'JP', 'US', 'FR', 'PL', 'GB', 'IT', 'EC', 'AU'];
const tags = ['gift', 'express', 'b2b', 'promo', 'fragile', 'repeat', 'mobile', 'web', 'bulk', 'eco', 'vip', 'intl'];
const firstInstantMicros = 1_767_225_600_000_000n;

/** The benchmark's table: what a shop's order topic looks like. */
export function ordersSchema(amount: DataType): StructType {
  const field = (name: string, type: DataType, nullable = true): Field => ({ name, type, nullable });
  const text: DataType = { kind: 'string' };
  const address: DataType = { kind: 'struct', fields: ['street', 'city', 'zip', 'country'].map((name) => field(name, text)) };
  return {
    kind: 'struct',
    fields: [
      field('order_id', { kind: 'long' }, false),
      field('customer_id', { kind: 'long' }),
      field('amount', amount),
      field('status', text),
      field('ts', { kind: 'timestamp' }),
      field('address', address),
      field('tags', { kind: 'list', element: text, elementNullable: true }),
    ],
  };
}

/** `rowCount` orders: sequential ids and instants, 500,000 customers, amounts to 1,000.00, a street of three digits and a name. */
export function ordersBatch(rowCount: number, amount: DataType): ColumnBatch {
  const random = new SeededRandom(7);
  const below = (bound: number): number => Math.floor(random.next() * bound);
  const pick = (values: readonly string[]): string | undefined => values[below(values.length)];
  const rows: InputRow[] = [];
  for (let index = 0; index < rowCount; index++) {
    const cents = below(100_000) + 1;
    rows.push({
      order_id: index,
      customer_id: below(500_000),
      amount: amount.kind === 'decimal' ? (cents / 100).toFixed(2) : cents / 100,
      status: pick(statuses),
      ts: firstInstantMicros + BigInt(index) * 1000n,
      address: {
        street: `${below(9900) + 100} Main Street`,
        city: pick(cities),
        zip: String(below(100_000)).padStart(5, '0'),
        country: pick(countries),
      },
      tags: [pick(tags), pick(tags), pick(tags)],
    });
  }
  return buildBatch(ordersSchema(amount), rows);
}
