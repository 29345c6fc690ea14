import { isSecretName } from '../../base/redaction.ts';
import { textLiteral } from '../../session/execute/sql-text.ts';
import { changeEventTransforms } from './change-event-transforms.ts';
import { fieldTransforms } from './field-transforms.ts';
import { invalid } from './read-connector.ts';
import { headersColumn, metadataTypes, type RecordDraft, topicColumn } from './record-draft.ts';
import type { PlannedColumn } from './sink-plan.ts';
import type { Transform, TransformRule, TransformRules } from './transform-rules.ts';

/** Of transforms that change no fields. */
const recordTransforms: TransformRules = {
  'org.apache.kafka.connect.transforms.InsertField': insertField,
  'org.apache.kafka.connect.transforms.Filter': filter,
  'org.apache.kafka.connect.transforms.RegexRouter': regexRouter,
  'org.apache.kafka.connect.transforms.TimestampRouter': () => ({
    left: 'a route names its topics and its table; partition by time instead: partitioning: [day(at)]',
  }),
  'org.apache.kafka.connect.transforms.SetSchemaMetadata': () => ({ became: 'nothing: columns are what the table declares' }),
  'org.apache.kafka.connect.transforms.ValueToKey': () => ({ became: 'nothing: rows have no keys' }),
  'org.apache.kafka.connect.transforms.InsertHeader': () => ({ became: 'nothing: headers are no columns of the sink' }),
  'org.apache.kafka.connect.transforms.DropHeaders': () => ({ became: 'nothing: headers are no columns of the sink' }),
  'org.apache.kafka.connect.transforms.HeaderFrom': () => ({ left: 'moves fields to headers, which the sink does not write' }),
  'io.confluent.connect.transforms.TombstoneHandler': (_, draft) => {
    draft.value.set('tombstones', { setting: 'skip', note: 'TombstoneHandler' });
    return { became: 'value.tombstones: skip' };
  },
  'io.confluent.connect.transforms.GzipDecompress': (_, draft) => {
    draft.value.set('compression', { setting: 'gzip', note: 'GzipDecompress' });
    return { became: 'value.compression: gzip' };
  },
  'org.apache.iceberg.connect.transforms.KafkaMetadataTransform': kafkaMetadata,
};

const rules: TransformRules = { ...recordTransforms, ...fieldTransforms, ...changeEventTransforms };

const maxTransforms = 100;

/** Goes through `transforms` of the connector in their order. */
export function applyTransforms(draft: RecordDraft): void {
  const { options } = draft;
  const aliases = options.takeList('transforms');
  if (aliases.length > maxTransforms)
    throw invalid(`the connector has more than ${maxTransforms} transforms`, 'give a configuration that a sink starts with');
  for (const alias of aliases) {
    const className = options.take(`transforms.${alias}.type`) ?? '';
    const [name = '', part] = className.split('$');
    const transform: Transform = { alias, name, take: (option) => options.take(`transforms.${alias}.${option}`) };
    const predicate = transform.take('predicate');
    const isNegated = transform.take('negate') === 'true';
    const rule = rules[name.replace(/^io\.tabular\.iceberg\.connect\.transforms\./, 'org.apache.iceberg.connect.transforms.')];
    const { became, left, doubt } = outcomeOf(rule, { ...transform, predicate, isNegated }, draft, part);
    const rest = options.takeBelow(`transforms.${alias}.`).map(([option]) => option);
    const unread = rest.length === 0 ? '' : ` (not looked at: ${rest.join(', ')})`;
    draft.steps.push(`${alias} (${className}): ${became ?? `CHECK: not translated, ${left ?? ''}`}${unread}`);
    if (left !== undefined && doubt !== false) draft.doubts.push(`transform ${alias}`);
  }
}

function outcomeOf(
  rule: TransformRule | undefined,
  transform: Transform,
  draft: RecordDraft,
  part: string | undefined,
): ReturnType<TransformRule> {
  if (rule === undefined)
    return { left: 'this class is not known; write what it does as select and where of the route, see docs/guides/transforms.md' };
  if (part === 'Key') return { became: 'nothing: it changes keys, which are no columns of the sink' };
  if (transform.predicate !== undefined && rule !== filter)
    return { left: `it is done only where the predicate ${transform.predicate} says; write it as CASE WHEN … in select` };
  return rule(transform, draft);
}

const places = ['topic', 'partition', 'offset', 'timestamp'] as const;

function insertField({ take }: Transform, draft: RecordDraft): ReturnType<TransformRule> {
  const became: string[] = [];
  for (const place of places) {
    const name = take(`${place}.field`)?.replace(/[!?]$/, '');
    if (name === undefined) continue;
    draft.added.push({ name, type: metadataTypes[place], from: place, note: `InsertField ${place}.field` });
    became.push(`the column ${name} from the ${place}`);
  }
  const name = take('static.field')?.replace(/[!?]$/, '');
  if (name !== undefined && isSecretName(name))
    return { left: `${name} looks like a secret; write it as a reference: '\${NAME}' AS ${name}` };
  if (name !== undefined) {
    draft.row.insert(name, { sql: textLiteral(take('static.value') ?? ''), type: { kind: 'string' } });
    became.push(`${name} in select`);
  }
  return became.length === 0 ? { left: 'it names no field' } : { became: became.join(', ') };
}

function kafkaMetadata({ take }: Transform, draft: RecordDraft): ReturnType<TransformRule> {
  if (take('nested') === 'true') return { left: 'a struct of topic, partition, offset and timestamp; take a column from each' };
  const prefix = take('field_name') ?? '_kafka_metadata';
  // The transform writes the record's time as milliseconds.
  for (const place of places)
    draft.added.push({
      name: `${prefix}_${place}`,
      type: metadataTypes[place],
      from: place,
      note: place === 'timestamp' ? 'CHECK: the sink wrote milliseconds (long); drop the column, or call this one otherwise' : undefined,
    });
  const [key, value] = take('external_field')?.split(',') ?? [];
  if (key !== undefined && value !== undefined)
    draft.row.insert(`${prefix}_${key.trim()}`, { sql: textLiteral(value.trim()), type: { kind: 'string' } });
  return { became: `the columns ${places.map((place) => `${prefix}_${place}`).join(', ')}` };
}

/** Records are left out of which the predicate is true, or false with `negate`. */
function filter({ predicate, isNegated }: Transform, draft: RecordDraft): ReturnType<TransformRule> {
  const { options, conditions } = draft;
  if (predicate === undefined) return { left: 'it has no predicate, and leaves all records out' };
  const kind = options.take(`predicates.${predicate}.type`) ?? '';
  const note = `Filter, predicate ${predicate}`;
  const keep = (condition: string, column: PlannedColumn): ReturnType<TransformRule> => {
    conditions.push({ sql: isNegated === true ? condition : `NOT ${condition}`, needs: [column], note });
    return { became: 'where' };
  };
  switch (kind.split('.').at(-1)) {
    case 'HasHeaderKey':
      return keep(
        `coalesce(map_contains_key(${headersColumn.name}, ${textLiteral(options.take(`predicates.${predicate}.name`) ?? '')}), false)`,
        headersColumn,
      );
    case 'TopicNameMatches':
      return keep(
        `${topicColumn.name} RLIKE ${textLiteral(`^(?:${options.take(`predicates.${predicate}.pattern`) ?? ''})$`)}`,
        topicColumn,
      );
    case 'RecordIsTombstone':
      if (isNegated === true) return { left: 'it keeps nothing but records without a value' };
      draft.value.set('tombstones', { setting: 'skip', note });
      return { became: 'value.tombstones: skip' };
    case undefined:
    default:
      return { left: `the predicate ${kind} is not known; write it as where of the route` };
  }
}

function regexRouter({ take }: Transform, draft: RecordDraft): ReturnType<TransformRule> {
  const [regex, replacement] = [take('regex') ?? '', take('replacement') ?? ''];
  const before = draft.topicName;
  try {
    const whole = new RegExp(`^(?:${regex})$`);
    draft.topicName = (topic) => before(topic).replace(whole, replacement);
  } catch {
    return { left: `its expression is of Java alone: ${regex}` };
  }
  return { became: 'the names of tables, where they are made of topics' };
}
