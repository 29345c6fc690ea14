// Orders as JSON, about 230 bytes each. Order i is a function of i alone, so any slice can be made again and any table checked.
const statuses = ['created', 'paid', 'packed', 'shipped', 'delivered', 'returned'];
const cities = ['Oslo', 'Berlin', 'Lisbon', 'Toronto', 'Nagoya', 'Austin', 'Lyon', 'Krakow', 'Leeds', 'Turin', 'Quito', 'Perth'];
const countries = ['NO', 'DE', 'PT', 'CA', 'JP', 'US', 'FR', 'PL', 'GB', 'IT', 'EC', 'AU'];
const tags = ['gift', 'express', 'b2b', 'promo', 'fragile', 'repeat', 'mobile', 'web', 'bulk', 'eco', 'vip', 'intl'];

/** Instant of order 0, epoch milliseconds; order i is i milliseconds later. */
export const firstOrderMs = 1_767_225_600_000;

/** The table's columns, as the configuration file has them. */
export const ordersColumns = [
  { name: 'order_id', type: 'long' },
  { name: 'customer_id', type: 'long' },
  { name: 'amount', type: 'double' },
  { name: 'status', type: 'string' },
  { name: 'ts', type: 'timestamp' },
  { name: 'address', type: 'struct<street:string,city:string,zip:string,country:string>' },
  { name: 'tags', type: 'array<string>' },
];

/** The amount of order `index`, in cents: 1 to 100,000. */
export function centsOf(index) {
  return (scramble(index, 1) % 100_000) + 1;
}

/** Order `index` as JSON text, with the instant `atMs`; `id`: the order that it says anew. */
export function orderJson(index, atMs, id = index) {
  const cents = centsOf(index);
  const first = scramble(index, 2);
  const second = scramble(index, 3);
  const third = scramble(index, 4);
  const place = first % 12;
  return (
    `{"order_id":${id},"customer_id":${second % 500_000},"amount":${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')},` +
    `"status":"${statuses[(first >>> 8) % 6]}","ts":"${isoText(atMs)}",` +
    `"address":{"street":"${(third % 9900) + 100} Main Street","city":"${cities[place]}","zip":"${String((second >>> 3) % 100_000).padStart(5, '0')}","country":"${countries[place]}"},` +
    `"tags":["${tags[(third >>> 5) % 12]}","${tags[(third >>> 12) % 12]}","${tags[(third >>> 19) % 12]}"]}`
  );
}

/** What a table of the orders 0 to count - 1 adds up to. */
export function expectedSums(count) {
  let cents = 0;
  for (let index = 0; index < count; index += 1) cents += centsOf(index);
  return { rows: count, cents, ids: (count * (count - 1)) / 2 };
}

/** A mixer of 32 bits: each (index, stream) gives a number that looks unrelated to its neighbours. */
export function scramble(index, stream) {
  let x = Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(stream, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

let cachedSecond = -1;
let cachedText = '';

function isoText(atMs) {
  const second = Math.floor(atMs / 1000);
  if (second !== cachedSecond) {
    cachedSecond = second;
    cachedText = new Date(second * 1000).toISOString().slice(0, 20);
  }
  return `${cachedText}${String(atMs - second * 1000).padStart(3, '0')}Z`;
}
