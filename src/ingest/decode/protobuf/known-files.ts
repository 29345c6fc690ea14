/** Files that registries take as known besides those of `google/protobuf`, as far as a reader needs them. */
export const knownFiles: ReadonlyMap<string, string> = new Map([
  ['confluent/meta.proto', 'syntax = "proto3"; package confluent;'],
  [
    'confluent/type/decimal.proto',
    'syntax = "proto3"; package confluent.type; message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }',
  ],
  ['google/type/date.proto', 'syntax = "proto3"; package google.type; message Date { int32 year = 1; int32 month = 2; int32 day = 3; }'],
  [
    'google/type/timeofday.proto',
    'syntax = "proto3"; package google.type; message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }',
  ],
  [
    'google/type/money.proto',
    'syntax = "proto3"; package google.type; message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }',
  ],
  ['google/type/latlng.proto', 'syntax = "proto3"; package google.type; message LatLng { double latitude = 1; double longitude = 2; }'],
]);
