import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Secret } from '../base/secret.ts';
import { booleanField, choiceField, durationField, secretField, textField, textListField } from '../base/setting-fields.ts';

const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
const maxBrokers = 64;

export type SaslMechanism = (typeof saslMechanisms)[number];

/** TLS to the brokers; every text is PEM, not a path. */
export interface KafkaTlsSettings {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: Secret | undefined;
  readonly passphrase: Secret | undefined;
  readonly serverName: string | undefined;
  readonly rejectUnauthorized: boolean;
}

export interface KafkaSaslSettings {
  readonly mechanism: SaslMechanism;
  readonly username: string;
  readonly password: Secret;
}

/** How to reach the Kafka cluster. */
export interface KafkaSettings {
  /** `host:port` each; empty: the embedded broker. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** `undefined`: no TLS. */
  readonly ssl: KafkaTlsSettings | undefined;
  readonly sasl: KafkaSaslSettings | undefined;
  readonly connectionTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

/** Host or IPv6 address in brackets, port from 1 to 65535. */
const brokerAddress =
  /^(\[[0-9a-fA-F:.%]+\]|[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?):([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])$/;
const pem = /-----BEGIN [A-Z0-9 ]+-----/;
const pemHint = 'is not PEM text; to read a file write ${file:/path/to/it.pem}';

const tlsObject: z.ZodType<KafkaTlsSettings> = z
  .strictObject({
    ca: textField({
      description: 'Certificate authorities that sign the brokers, PEM text. Without it the system’s are trusted.',
      maxLength: 1_000_000,
      pattern: pem,
      patternHint: pemHint,
    }).optional(),
    cert: textField({
      description: 'Client certificate for mutual TLS, PEM text.',
      maxLength: 1_000_000,
      pattern: pem,
      patternHint: pemHint,
    }).optional(),
    key: secretField({ description: 'Private key of the client certificate, PEM text.' }).optional(),
    passphrase: secretField({ description: 'Passphrase of the private key.' }).optional(),
    serverName: textField({
      description: 'Name expected in the brokers’ certificate when it is not the host name.',
      maxLength: 255,
    }).optional(),
    rejectUnauthorized: booleanField({ description: 'Refuse certificates that do not check out. False only for tests.', default: true }),
  })
  .transform((raw, context) => {
    // Node takes half of a pair without a word and shows the brokers no certificate.
    if (raw.cert === undefined && raw.key !== undefined)
      context.addIssue({ code: 'custom', path: ['key'], message: 'needs cert, its certificate' });
    if (raw.cert !== undefined && raw.key === undefined)
      context.addIssue({ code: 'custom', path: ['cert'], message: 'needs key, its private key' });
    if (raw.passphrase !== undefined && raw.key === undefined)
      context.addIssue({ code: 'custom', path: ['passphrase'], message: 'needs key, which it opens' });
    return {
      ca: raw.ca,
      cert: raw.cert,
      key: raw.key,
      passphrase: raw.passphrase,
      serverName: raw.serverName,
      rejectUnauthorized: raw.rejectUnauthorized,
    };
  });

const sasl: z.ZodType<KafkaSaslSettings> = z
  .strictObject({
    mechanism: choiceField(saslMechanisms, { description: 'SASL mechanism.', default: 'scram-sha-512' }),
    username: textField({ description: 'User name.', maxLength: 255 }),
    password: secretField({ description: 'Password; write it as ${ENV_NAME} or ${file:/run/secrets/name}. Or `passwordFile`.' }).optional(),
    passwordFile: textField({
      description: 'File that holds the password, in place of `password`: read again at every log-in, so that a rotated password is used.',
      maxLength: 4_096,
    }).optional(),
  })
  .refine(({ password, passwordFile }) => (password === undefined) !== (passwordFile === undefined), {
    error: 'needs either password or passwordFile',
  })
  .transform(({ mechanism, username, password, passwordFile = '' }) => ({
    mechanism,
    username,
    password: password ?? new Secret(() => readFileSync(passwordFile, 'utf8').replace(/\r?\n$/, '')),
  }));

export const kafkaSettings: z.ZodType<KafkaSettings> = z
  .strictObject({
    brokers: textListField({
      description: 'Bootstrap servers, host:port each, as a list or separated by commas. Empty: a private broker is started (embedded).',
      default: [],
      maxItems: maxBrokers,
      pattern: brokerAddress,
      patternHint: 'is no host:port; a broker is written with its port and without a scheme: kafka-1:9092, [::1]:9092',
    }),
    clientId: textField({
      description: 'Name this process shows to the brokers, for their logs and quotas.',
      default: 'tidewater',
      maxLength: 255,
    }),
    ssl: z
      .union([booleanField({ description: 'True trusts the system’s authorities.' }), tlsObject], {
        error: 'expected true, false or a map of TLS settings',
      })
      .optional()
      .meta({ description: 'TLS to the brokers: true for the system’s authorities, or a map. Absent or false: plain text.' }),
    sasl: sasl.optional().meta({ description: 'SASL log-in. Absent: none.' }),
    connectionTimeout: durationField({
      description: 'Longest wait for a connection to a broker.',
      default: '10s',
      min: '100ms',
      max: '5m',
    }),
    requestTimeout: durationField({ description: 'Longest wait for a broker’s answer.', default: '30s', min: '1s', max: '10m' }),
  })
  .transform((raw) => ({
    brokers: raw.brokers,
    clientId: raw.clientId,
    ssl: tlsOf(raw.ssl),
    sasl: raw.sasl,
    connectionTimeoutMs: raw.connectionTimeout,
    requestTimeoutMs: raw.requestTimeout,
  }));

function tlsOf(raw: boolean | KafkaTlsSettings | undefined): KafkaTlsSettings | undefined {
  if (raw === true) {
    return { ca: undefined, cert: undefined, key: undefined, passphrase: undefined, serverName: undefined, rejectUnauthorized: true };
  }
  return raw === false ? undefined : raw;
}
