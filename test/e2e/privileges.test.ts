import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, type Admin, type Kafka, ResourcePatternTypes } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consume } from '../support/checks-feed.ts';
import { eventually, ProductProcess } from '../support/process.ts';
import { type SecuredKafka, startSecuredKafka } from '../support/secured-kafka.ts';
import { redisUrl, removeDirectory, temporaryDirectory } from '../support/servers.ts';
import { testKafka } from '../support/test-kafka.ts';

/** One operation on one resource of the table in SECURITY.md. */
interface Privilege {
  readonly resource: keyof typeof resourceTypes;
  readonly name: string;
  readonly operation: keyof typeof operationTypes;
}

const resourceTypes = { Topic: AclResourceTypes.TOPIC, Group: AclResourceTypes.GROUP, TransactionalId: AclResourceTypes.TRANSACTIONAL_ID };
const operationTypes = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
};
/** How long a process may take to tell what it lacks. */
const patienceMs = 45_000;
const privileges = tableOfPrivileges();

function tableOfPrivileges(): readonly Privilege[] {
  const rows = [...readFileSync('SECURITY.md', 'utf8').matchAll(/^\| (Topic|Group|TransactionalId) \| ([^|]+) \| ([^|]+) \|/gm)];
  return rows.flatMap(([, resource, name, operations]) =>
    [...(operations ?? '').matchAll(/`(\w+)`/g)].map(
      ([, operation]) => ({ resource, name: name?.trim(), operation }) as unknown as Privilege,
    ),
  );
}

/** A pipeline with names of its own, run as the user of the access lists. */
class Case {
  readonly label: string;
  readonly names: Readonly<Record<string, string>>;
  readonly feed: string;
  readonly source: string;
  readonly deadLetters: string;
  readonly config: string;

  constructor(label: string, dir: string, kafka: SecuredKafka) {
    this.label = label;
    this.source = `${label}.in`;
    this.feed = `${label}.out`;
    this.deadLetters = `${label}.dlq`;
    this.names = {
      'each source topic': this.source,
      'the dead-letter topic': this.deadLetters,
      'the replay topic': `${label}.dlq.replay`,
      'each feed’s topic': this.feed,
      'the positions topic': `${label}._positions`,
      'prefix `tidewater-`': `tidewater-${label}`,
    };
    this.config = join(dir, `${label}.yaml`);
    mkdirSync(join(dir, label));
    writeFileSync(this.config, configText(this, join(dir, label), kafka));
  }
}

function configText({ label, source, feed }: Case, dataDir: string, kafka: SecuredKafka): string {
  return `pipeline: ${label}
dataDir: ${dataDir}
kafka:
  brokers: [${kafka.securedBrokers.join(', ')}]
  ssl: { ca: "\${file:${kafka.caFile}}" }
  sasl: { mechanism: scram-sha-256, username: alice, password: ${kafka.users.alice} }
redis: { url: "${redisUrl()}" }
tables:
  - { name: events, columns: [{ name: id, type: long, nullable: false }] }
ingest: { maxBatchAge: 50ms, routes: [{ topics: [${source}], table: events }] }
feeds: [{ table: events, topic: ${feed}, keyColumns: [id], start: earliest }]
feedDefaults: { topicPrefix: ${label}, pollInterval: 100ms }
maintenance: { sweepInterval: 500ms, compaction: { minInputFiles: 2 } }
server: { port: 0 }
logging: { format: json }
`;
}

describe('a user with the privileges of SECURITY.md', () => {
  const dir = temporaryDirectory('privileges');
  const running: ProductProcess[] = [];
  let kafka: SecuredKafka;
  let client: Kafka;
  let admin: Admin;

  beforeAll(async () => {
    kafka = await startSecuredKafka();
    client = testKafka({ brokers: kafka.plainBrokers });
    admin = client.admin();
    await admin.connect();
  });
  afterAll(async () => {
    await Promise.all(running.map((started) => started.kill()));
    await admin.disconnect();
    await kafka[Symbol.asyncDispose]();
    removeDirectory(dir);
  });

  async function caseWith(label: string, granted: readonly Privilege[]): Promise<Case> {
    const made = new Case(label, dir, kafka);
    await admin.createTopics({ topics: [{ topic: made.source, numPartitions: 1 }] });
    await admin.createAcls({
      acl: granted.map(({ resource, name, operation }) => ({
        resourceType: resourceTypes[resource],
        resourceName: made.names[name] ?? name,
        resourcePatternType: name.startsWith('prefix') ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
        principal: 'User:alice',
        host: '*',
        operation: operationTypes[operation],
        permissionType: AclPermissionTypes.ALLOW,
      })),
    });
    const producer = client.producer();
    await producer.connect();
    // Letters of earlier tries are looked for where there are any: in an empty topic nobody misses the right to read.
    if (!granted.some(({ name, operation }) => name === 'the dead-letter topic' && operation === 'Read')) {
      await admin.createTopics({ topics: [{ topic: made.deadLetters, numPartitions: 1 }] });
      await producer.send({ topic: made.deadLetters, messages: [{ value: 'a letter of somebody else' }] });
    }
    const messages = ['{"id":1}', '{"id":"poison"}', '{"id":2}'].map((value) => ({ value }));
    await producer.send({ topic: made.source, messages });
    await producer.disconnect();
    return made;
  }

  function serve({ config }: Case): ProductProcess {
    const started = new ProductProcess({ config, args: ['serve'] });
    running.push(started);
    return started;
  }

  it('ingests, writes dead letters, publishes changes and maintains tables', async () => {
    const made = await caseWith('granted', privileges);
    const process = serve(made);
    await eventually('the process is ready', async () => ((await process.probe('/readyz')).status === 200 ? true : undefined));
    const rejected = await consume(client, [made.deadLetters], (received) => received.length > 0);
    const published = await consume(client, [made.feed], (received) => received.length > 1);
    expect([rejected.length, published.length], process.log).toEqual([1, 2]);
    expect(process.said('NOT_AUTHORIZED'), process.log).toBe(false);
    expect(await process.terminate()).toEqual({ code: 0, signal: null });
    // What was stored is found again.
    const second = serve(made);
    await eventually('the second process is ready', async () => ((await second.probe('/readyz')).status === 200 ? true : undefined));
    expect(await second.terminate()).toEqual({ code: 0, signal: null });
  });

  it.each(privileges)('is told when $operation on $name is missing', async (missing) => {
    const label = `without-${missing.operation}-${missing.resource}-${missing.name.replaceAll(/[^a-z]+/g, '')}`.toLowerCase();
    const made = await caseWith(
      label,
      privileges.filter((each) => each !== missing),
    );
    const process = serve(made);
    const resource = made.names[missing.name] ?? missing.name;
    const tells = (each: string): boolean => each.includes('KAFKA_NOT_AUTHORIZED') && each.includes(resource);
    try {
      const line = await eventually('the log tells what is not allowed', () => process.log.split('\n').find(tells), patienceMs);
      expect(line).toContain(missing.operation);
    } catch (error) {
      throw new Error(`nothing is told of ${resource}:\n${process.log}`, { cause: error });
    } finally {
      await process.kill();
    }
  });
});
