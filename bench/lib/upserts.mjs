// Upserts of orders: event i says order keyOfEvent(i) anew. As orders are, it is a function of i, so what a table must hold can be made again.
import { centsOf, orderJson, ordersColumns, scramble } from './orders.mjs';
import { madeCents } from './orders-table.mjs';
import { partitions } from './topics.mjs';

const keyStream = 5;

/** The table as the configuration has it. */
export const upsertTable = { mode: 'upsert', keyColumns: ['order_id'] };
export const upsertColumns = ordersColumns.map((column) => (column.name === 'order_id' ? { ...column, nullable: false } : column));

const keyOfEvent = (index, keys) => scramble(index, keyStream) % keys;
const partitionOf = (key) => key % partitions;

/** Event `index`, as `ensureRecords` takes it: in the partition of its key. */
export function upsertRecord(index, keys) {
  const key = keyOfEvent(index, keys);
  return { partition: partitionOf(key), json: (atMs) => orderJson(index, atMs, key) };
}

/** What a table adds up to after `count` events, laid over orders 0 to `base` - 1 that were made before. */
export function expectedAfter({ keys, count, base = 0 }) {
  const cents = new Int32Array(keys);
  for (let key = 0; key < base; key += 1) cents[key] = madeCents(key);
  for (let index = 0; index < count; index += 1) cents[keyOfEvent(index, keys)] = centsOf(index);
  const expected = { rows: 0, cents: 0, ids: 0 };
  for (let key = 0; key < keys; key += 1) {
    if (cents[key] === 0) continue;
    expected.rows += 1;
    expected.cents += cents[key];
    expected.ids += key;
  }
  return expected;
}

/**
 * Milliseconds from an event's own instant to the commit after which the table has it, of events `first` on. `ticks`: the first index of each moment,
 * and its clock; `commits`: as `ProgressWatch` has them.
 */
export function upsertDelays({ keys, first, count, ticks, commits }) {
  const offsets = new Array(partitions).fill(0);
  const reached = new Array(partitions).fill(0);
  const delays = [];
  let tick = 0;
  for (let index = 0; index < count; index += 1) {
    const partition = partitionOf(keyOfEvent(index, keys));
    const offset = offsets[partition]++;
    while ((commits[reached[partition]]?.applied[partition] ?? 0) <= offset && reached[partition] < commits.length) reached[partition] += 1;
    while (tick + 1 < ticks.length && ticks[tick + 1][0] <= index) tick += 1;
    const commit = commits[reached[partition]];
    if (index >= first && commit !== undefined) delays.push(commit.atMs - ticks[tick][1]);
  }
  return Float64Array.from(delays).sort();
}
