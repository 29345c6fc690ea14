import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/base/clock.ts';
import { Secret } from '../../../src/base/secret.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import { KafkajsClient } from '../../../src/kafka/kafkajs/kafkajs-client.ts';
import { encodeRecordBatch } from '../../../src/kafka/records/record-batch.ts';
import { type KafkaSettings, kafkaSettings, type SaslMechanism } from '../../../src/kafka/settings.ts';
import { type SecuredKafka, startSecuredKafka } from '../../support/secured-kafka.ts';
import { withTemporaryDirectory } from '../../support/servers.ts';

const topic = 'secured';

describe('a cluster with TLS, passwords and access lists', () => {
  let kafka: SecuredKafka;
  const open: KafkajsClient[] = [];

  beforeAll(async () => {
    kafka = await startSecuredKafka();
    await client({ brokers: kafka.plainBrokers }).admin.ensureTopics([{ topic, partitions: 1 }]);
  });
  afterAll(async () => {
    await Promise.all(open.map((each) => each.close()));
    await kafka[Symbol.asyncDispose]();
  });

  function client(settings: Partial<KafkaSettings>): KafkajsClient {
    const defaults: KafkaSettings = {
      brokers: kafka.securedBrokers,
      clientId: 'secured-test',
      ssl: undefined,
      sasl: undefined,
      connectionTimeoutMs: 5_000,
      requestTimeoutMs: 10_000,
    };
    const made = new KafkajsClient({
      settings: { ...defaults, ...settings },
      clock: new SystemClock(),
      random: new SystemRandom(),
      deliveryTimeoutMs: 8_000,
    });
    open.push(made);
    return made;
  }

  const tls = (): KafkaSettings['ssl'] => ({
    ca: kafka.ca,
    cert: undefined,
    key: undefined,
    passphrase: undefined,
    serverName: undefined,
    rejectUnauthorized: true,
  });
  const login = (mechanism: SaslMechanism, password: string = kafka.users.admin): KafkaSettings['sasl'] => ({
    mechanism,
    username: 'admin',
    password: new Secret(password),
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
    'takes and gives records to a client that logs in with %s',
    async (mechanism) => {
      const secured = client({ ssl: tls(), sasl: login(mechanism) });
      const producer = await secured.producer();
      const value = new TextEncoder().encode(mechanism);
      await producer.send([encodeRecordBatch({ topic, partition: 0, records: [{ value, timestampMs: toEpochMs(0) }] })]);
      const [held] = await secured.admin.offsets(topic);
      const records = [];
      for await (const record of secured.readPartition({ topic, partition: 0, from: 0n, until: held?.latest ?? 0n })) records.push(record);
      expect(Buffer.from(records.at(-1)?.value ?? []).toString()).toBe(mechanism);
    },
  );

  it('fences an older transactional producer over TLS as well', async () => {
    const secured = client({ ssl: tls(), sasl: login('scram-sha-512') });
    const older = await secured.openTransactional({ transactionalId: 'tidewater-secured' });
    await secured.openTransactional({ transactionalId: 'tidewater-secured' });
    const batch = encodeRecordBatch({ topic, partition: 0, records: [{ value: new Uint8Array(1), timestampMs: toEpochMs(0) }] });
    await expect(older.publish([batch])).rejects.toMatchObject({ kind: 'fenced' });
  });

  it('refuses a wrong password, and the error does not show it', async () => {
    const refused = client({ ssl: tls(), sasl: login('scram-sha-256', 'not-the-password') }).admin.clusterId();
    await expect(refused).rejects.toMatchObject({ kind: 'invalid' });
    await refused.catch((error: unknown) => {
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('not-the-password');
    });
  });

  it('lets a client in that was refused as soon as its password file is corrected, and the client is the same', async () => {
    await withTemporaryDirectory(async (dir) => {
      const passwordFile = join(dir, 'password');
      writeFileSync(passwordFile, 'not-the-password\n');
      const { sasl } = kafkaSettings.parse({ sasl: { mechanism: 'scram-sha-256', username: 'admin', passwordFile } });
      const waiting = client({ ssl: tls(), sasl });
      await expect(waiting.admin.clusterId()).rejects.toMatchObject({ code: 'KAFKA_AUTHENTICATION_FAILED' });
      writeFileSync(passwordFile, `${kafka.users.admin}\n`);
      expect((await waiting.admin.clusterId()).length).toBeGreaterThan(0);
      expect((await waiting.admin.describeTopic(topic))?.partitions).toBe(1);
    });
  });

  it('is not trusted without its authority', async () => {
    await expect(
      client({
        ssl: { ...tls(), ca: undefined, rejectUnauthorized: true } as KafkaSettings['ssl'],
        sasl: login('plain'),
      }).admin.clusterId(),
    ).rejects.toMatchObject({
      name: 'ServiceError',
    });
  });
});
