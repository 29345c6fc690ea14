/** Keys of the attributes that Iceberg keeps with each column (Iceberg spec: ORC). */
export const attribute = {
  id: 'iceberg.id',
  required: 'iceberg.required',
  longType: 'iceberg.long-type',
  binaryType: 'iceberg.binary-type',
  timestampUnit: 'iceberg.timestamp-unit',
  length: 'iceberg.length',
} as const;
