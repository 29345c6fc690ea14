import type { JsonObject, JsonValue } from '../../base/bigint-json.ts';
import { parseTransform, printTransform } from '../../table/partitioning/transform.ts';
import { JsonMembers } from './json-members.ts';
import { sourceMember, sourceOf } from './partition-spec-json.ts';
import { unknownMembers } from './schema-json.ts';
import { invalidMetadata } from './spec-errors.ts';
import type { SortField, SortOrder } from './table-metadata.ts';

/** https://iceberg.apache.org/spec/#sorting @throws ServiceError `ICEBERG_METADATA_INVALID` (kind corrupt). */
export function sortOrderFromJson(json: JsonValue | undefined, where: string): SortOrder {
  const members = new JsonMembers(json, `${where}: sort order`);
  const orderId = members.int('order-id');
  const fields = members.list('fields').map((value) => sortFieldFromJson(value, `${where}: sort order ${orderId}`));
  if (orderId === 0 && fields.length > 0) throw invalidMetadata(where, 'sort order ID 0 is reserved for unsorted order');
  if (orderId !== 0 && fields.length === 0) throw invalidMetadata(where, `unsorted order ID must be 0, not ${orderId}`);
  return { orderId, fields, ...unknownMembers(members.rest) };
}

/** Inverse of `sortOrderFromJson`. */
export function sortOrderToJson(order: SortOrder): JsonObject {
  return {
    'order-id': order.orderId,
    fields: order.fields.map((field) => ({
      transform: printTransform(field.transform),
      ...sourceMember(field),
      direction: field.direction,
      'null-order': field.nullOrder,
      ...field.unknown,
    })),
    ...order.unknown,
  };
}

function sortFieldFromJson(value: JsonValue, where: string): SortField {
  const members = new JsonMembers(value, `${where}: field`);
  const { sourceId, several } = sourceOf(members);
  const text = members.text('transform');
  const direction = members.text('direction').toLowerCase();
  const nullOrder = members.text('null-order').toLowerCase();
  if (direction !== 'asc' && direction !== 'desc') throw invalidMetadata(where, `invalid sort direction: ${direction}`);
  if (nullOrder !== 'nulls-first' && nullOrder !== 'nulls-last') throw invalidMetadata(where, `unexpected null order: ${nullOrder}`);
  return {
    transform: several ? { kind: 'unknown', text } : parseTransform(text),
    sourceId,
    direction,
    nullOrder,
    ...unknownMembers(members.rest),
  };
}
