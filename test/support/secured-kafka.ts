import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedKafka, type KafkaVariant, startEmbeddedKafka } from '../../src/app/embedded/kafka-server.ts';
import { makeCertificates } from './certificates.ts';
import { removeDirectory, temporaryDirectory } from './servers.ts';

/** A broker with TLS, passwords and access lists. */
export interface SecuredKafka {
  /** Loopback listener without any check (a super user): for arranging. */
  readonly plainBrokers: readonly string[];
  /** SASL_SSL with SCRAM-SHA-256, SCRAM-SHA-512 and PLAIN. */
  readonly securedBrokers: readonly string[];
  /** PEM of the authority that signed the broker's certificate. */
  readonly ca: string;
  readonly caFile: string;
  /** `admin` is a super user; `alice` may do what access lists let her, in all mechanisms but SCRAM-SHA-512; `bob` has SCRAM-SHA-256 only. */
  readonly users: { readonly admin: string; readonly alice: string; readonly bob: string };
  readonly server: EmbeddedKafka;
  [Symbol.asyncDispose](): Promise<void>;
}

const users = { admin: 'admin-secret', alice: 'alice-secret', bob: 'bob-secret' } as const;

/** Starts it: some eight seconds; needs `openssl`. */
export async function startSecuredKafka(): Promise<SecuredKafka> {
  const dir = temporaryDirectory('secured-kafka');
  const tls = join(dir, 'tls');
  makeCertificates(tls);
  const server = await startEmbeddedKafka({ dir: join(dir, 'kafka'), variant: securedVariant(tls), orphanGraceMs: 5_000 });
  const caFile = join(tls, 'ca.pem');
  return {
    server,
    users,
    caFile,
    ca: readFileSync(caFile, 'utf8'),
    plainBrokers: server.brokers,
    securedBrokers: server.variantBrokers,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      removeDirectory(dir);
    },
  };
}

function securedVariant(tls: string): KafkaVariant {
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
  const plain = `org.apache.kafka.common.security.plain.PlainLoginModule required user_admin="${users.admin}" user_alice="${users.alice}";`;
  const account = (mechanism: string, name: keyof typeof users): readonly string[] => [
    '--add-scram',
    `${mechanism}=[name=${name},password=${users[name]}]`,
  ];
  return {
    listeners: ['SASL_SSL'],
    properties: [
      'sasl.enabled.mechanisms=SCRAM-SHA-256,SCRAM-SHA-512,PLAIN',
      `listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=${scram}`,
      `listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=${scram}`,
      `listener.name.sasl_ssl.plain.sasl.jaas.config=${plain}`,
      'ssl.keystore.type=PEM',
      `ssl.keystore.location=${join(tls, 'keystore.pem')}`,
      'ssl.truststore.type=PEM',
      `ssl.truststore.location=${join(tls, 'ca.pem')}`,
      'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users=User:admin;User:ANONYMOUS',
      'allow.everyone.if.no.acl.found=false',
    ],
    formatArgs: [
      ...account('SCRAM-SHA-256', 'admin'),
      ...account('SCRAM-SHA-512', 'admin'),
      ...account('SCRAM-SHA-256', 'alice'),
      ...account('SCRAM-SHA-256', 'bob'),
    ],
  };
}
