import { describe, expect, it } from 'vitest';
import { parseJson, printJson } from '../../../../src/base/bigint-json.ts';
import { applyUpdates } from '../../../../src/iceberg/metadata/apply-updates.ts';
import type { MetadataRequirement, MetadataUpdate } from '../../../../src/iceberg/metadata/metadata-updates.ts';
import { checkRequirements, requirementsFor, requirementToJson } from '../../../../src/iceberg/metadata/requirements.ts';
import { updateToJson } from '../../../../src/iceberg/metadata/updates-json.ts';
import { requirementFromJson, updateFromJson } from '../../../support/iceberg/rest-messages.ts';
import { branch, commit, createdTable, creation, snapshot } from '../../../support/iceberg-metadata.ts';

const table = applyUpdates(createdTable(), commit(snapshot(5, 1)), { nowMs: 2000, baseLocation: undefined });
const requirements: readonly MetadataRequirement[] = [
  { type: 'assert-table-uuid', uuid: table.tableUuid },
  { type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: 5n },
  { type: 'assert-ref-snapshot-id', ref: 'other', snapshotId: undefined },
  { type: 'assert-last-assigned-field-id', lastAssignedFieldId: 3 },
  { type: 'assert-current-schema-id', currentSchemaId: 0 },
  { type: 'assert-last-assigned-partition-id', lastAssignedPartitionId: 999 },
  { type: 'assert-default-spec-id', defaultSpecId: 0 },
  { type: 'assert-default-sort-order-id', defaultSortOrderId: 0 },
];

describe('requirements', () => {
  it('hold of the table they were made from', () => {
    expect(checkRequirements(table, requirements)).toBeUndefined();
    expect(checkRequirements(undefined, [{ type: 'assert-create' }])).toBeUndefined();
  });

  it.each<[MetadataRequirement, string]>([
    [{ type: 'assert-create' }, 'table already exists'],
    [{ type: 'assert-table-uuid', uuid: 'x' }, `UUID does not match: expected ${table.tableUuid} != x`],
    [{ type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: 4n }, 'branch main has changed: expected id 4 != 5'],
    [{ type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: undefined }, 'branch main was created concurrently'],
    [{ type: 'assert-ref-snapshot-id', ref: 'gone', snapshotId: 4n }, 'branch or tag gone is missing, expected 4'],
    [{ type: 'assert-last-assigned-field-id', lastAssignedFieldId: 4 }, 'last assigned field id changed: expected id 4 != 3'],
    [{ type: 'assert-current-schema-id', currentSchemaId: 4 }, 'current schema changed: expected id 4 != 0'],
    [{ type: 'assert-last-assigned-partition-id', lastAssignedPartitionId: 4 }, 'last assigned partition id changed: expected id 4 != 999'],
    [{ type: 'assert-default-spec-id', defaultSpecId: 4 }, 'default partition spec changed: expected id 4 != 0'],
    [{ type: 'assert-default-sort-order-id', defaultSortOrderId: 4 }, 'default sort order changed: expected id 4 != 0'],
  ])('fail: %o', (requirement, message) => {
    expect(checkRequirements(table, [...requirements, requirement])).toBe(`Requirement failed: ${message}`);
  });

  it('of a table that is gone fail', () => {
    expect(checkRequirements(undefined, requirements)).toBe('Requirement failed: table does not exist');
  });

  it('follow from updates, each once', () => {
    const updates: readonly MetadataUpdate[] = [
      ...creation(),
      ...commit(snapshot(6, 2)),
      ...commit(snapshot(7, 3), 'other'),
      ...commit(snapshot(8, 4)),
    ];
    expect(requirementsFor(undefined, updates)).toEqual([{ type: 'assert-create' }]);
    expect(requirementsFor(table, updates).map(({ type }) => type)).toEqual([
      'assert-table-uuid',
      'assert-last-assigned-field-id',
      'assert-current-schema-id',
      'assert-last-assigned-partition-id',
      'assert-default-spec-id',
      'assert-default-sort-order-id',
      'assert-ref-snapshot-id',
      'assert-ref-snapshot-id',
    ]);
    expect(requirementsFor(table, updates, { replacing: true }).map(({ type }) => type)).toEqual([
      'assert-table-uuid',
      'assert-last-assigned-field-id',
      'assert-last-assigned-partition-id',
    ]);
    expect(requirementsFor(table, [{ action: 'remove-schemas', schemaIds: [1] }])).toContainEqual({
      type: 'assert-ref-snapshot-id',
      ref: 'main',
      snapshotId: 5n,
    });
  });

  it('are sent as the protocol has them', () => {
    expect(requirementToJson({ type: 'assert-ref-snapshot-id', ref: 'b', snapshotId: undefined })).toEqual({
      type: 'assert-ref-snapshot-id',
      ref: 'b',
      'snapshot-id': null,
    });
    for (const requirement of [...requirements, { type: 'assert-create' } as const]) {
      expect(requirementFromJson(parseJson(printJson(requirementToJson(requirement)), 'r'), 'r')).toEqual(requirement);
    }
    expect(() => requirementFromJson({ type: 'assert-weather' }, 'r')).toThrow('unrecognised type: assert-weather');
  });
});

describe('updates', () => {
  const statistics = {
    snapshotId: 2n ** 60n,
    statisticsPath: 's',
    fileSizeInBytes: 1n,
    fileFooterSizeInBytes: 1n,
    keyMetadata: undefined,
    blobMetadata: [],
  };
  const all: readonly MetadataUpdate[] = [
    ...creation({ properties: { a: 'b' } }),
    ...commit(snapshot(2n ** 60n, 2)),
    { action: 'set-snapshot-ref', refName: 't', ref: branch(2n ** 60n, { type: 'tag', maxRefAgeMs: 5n }) },
    { action: 'remove-snapshots', snapshotIds: [2n ** 60n, 1n] },
    { action: 'remove-snapshot-ref', refName: 't' },
    { action: 'remove-properties', removals: ['a'] },
    { action: 'set-statistics', statistics },
    { action: 'remove-statistics', snapshotId: 1n },
    { action: 'set-partition-statistics', statistics: { snapshotId: 1n, statisticsPath: 'p', fileSizeInBytes: 2n } },
    { action: 'remove-partition-statistics', snapshotId: 1n },
    { action: 'remove-partition-specs', specIds: [1] },
    { action: 'remove-schemas', schemaIds: [1, 2] },
  ];

  it.each(all.map((update) => [update.action, update] as const))('%s comes back as it was sent', (_, update) => {
    expect(updateFromJson(parseJson(printJson(updateToJson(update)), 'u'), 'u')).toEqual(update);
  });

  it('are known by older names of their members, and unknown ones are refused', () => {
    expect(updateFromJson({ action: 'set-properties', updated: { a: 'b' } }, 'u')).toEqual({
      action: 'set-properties',
      updates: { a: 'b' },
    });
    expect(updateFromJson({ action: 'remove-properties', removed: ['a'] }, 'u')).toEqual({ action: 'remove-properties', removals: ['a'] });
    expect(() => updateFromJson({ action: 'add-view-version' }, 'u')).toThrow('unrecognised action: add-view-version');
  });
});
