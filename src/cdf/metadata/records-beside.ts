import type { SchemaSubjects } from '../../protocol/schema-subjects.ts';
import type { TableFormat } from '../../table/formats.ts';
import { type Encoded, schemaToRegister } from '../encoding/encodings.ts';
import { type NumberedSchema, SchemaNumbers } from '../encoding/schema-numbers.ts';
import type { FeedSpec } from '../feed-spec.ts';
import { type MetadataShape, MetadataTopic } from './metadata-topic.ts';
import { SchemaChanges, schemaChangeShape } from './schema-changes.ts';
import { TransactionMarks, transactionShape } from './transaction-marks.ts';
import type { VersionRecords } from './version-records.ts';

/** The schemas of what the feed tells beside its rows, where a registry has them. */
export function schemasBeside(spec: Encoded & Pick<FeedSpec, 'schemaChanges' | 'transactions'>): readonly NumberedSchema[] {
  const shapes = [
    [spec.schemaChanges?.topic, schemaChangeShape],
    [spec.transactions?.topic, transactionShape],
  ] as const;
  return shapes.flatMap(([topic, shape]) =>
    (['key', 'value'] as const).flatMap((part): readonly NumberedSchema[] => {
      const schema = topic === undefined ? undefined : schemaToRegister(spec, part, () => shape[part]);
      return topic === undefined || schema === undefined ? [] : [{ topic, part, schema, records: spec.records }];
    }),
  );
}

/** What the feed tells of versions beside their rows, in the order in which it is told. */
export function recordsBeside(spec: FeedSpec, format: TableFormat, subjects: SchemaSubjects | undefined): readonly VersionRecords[] {
  const numbers = subjects === undefined ? undefined : new SchemaNumbers(subjects);
  const topicOf = (topic: string, shape: MetadataShape): MetadataTopic => new MetadataTopic({ topic, shape, spec, numbers });
  const { schemaChanges, transactions } = spec;
  return [
    ...(schemaChanges === undefined ? [] : [new SchemaChanges(spec, format, topicOf(schemaChanges.topic, schemaChangeShape))]),
    ...(transactions === undefined ? [] : [new TransactionMarks(spec.table, topicOf(transactions.topic, transactionShape))]),
  ];
}
