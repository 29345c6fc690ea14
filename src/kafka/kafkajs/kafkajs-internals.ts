import { createRequire } from 'node:module';
import type { Writable } from 'node:stream';
import { Kafka, type KafkaConfig, logLevel, type SASLOptions } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { KafkaSettings } from '../settings.ts';
import { WireReader, WireWriter } from './wire.ts';

/**
 * The only place that reaches behind kafkajs's public face. kafkajs carries connections, TLS, SASL, metadata and the group protocol's
 * messages; what the product reads and writes by the megabyte (Fetch, Produce) goes through its connections in our own
 * encoding. Pinned to one version; `checkKafkajs` says so at start.
 */
export const SUPPORTED_KAFKAJS_VERSION = '2.2.4';

/** Receives kafkajs's log lines. */
export type KafkaLog = (level: 'error' | 'warn' | 'info' | 'debug', message: string, fields: Readonly<Record<string, unknown>>) => void;

/** What is used of kafkajs's `Broker`. Errors carry kafkajs's `type`, see `kafkajs-errors.ts`. */
export interface Broker {
  readonly nodeId: number | null;
  readonly versions: Readonly<Record<number, { readonly minVersion: number; readonly maxVersion: number }>> | null;
  readonly connectionPool: {
    getConnectionByRequest(options: { readonly request: { readonly apiKey: number } }): Promise<BrokerConnection>;
  };
  disconnect(): Promise<void>;
  metadata(topics: readonly string[]): Promise<{ readonly clusterId: string }>;
  listOffsets(options: {
    readonly replicaId: number;
    readonly isolationLevel: number;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number; readonly timestamp: number }[];
    }[];
  }): Promise<{
    readonly responses: readonly { readonly partitions: readonly { readonly partition: number; readonly offset: string }[] }[];
  }>;
  findGroupCoordinator(options: {
    readonly groupId: string;
    readonly coordinatorType: number;
  }): Promise<{ readonly coordinator: { readonly nodeId: number } }>;
  joinGroup(options: {
    readonly groupId: string;
    readonly sessionTimeout: number;
    readonly rebalanceTimeout: number;
    readonly memberId: string;
    readonly groupProtocols: readonly { readonly name: string; readonly metadata: Buffer }[];
  }): Promise<{
    readonly generationId: number;
    readonly leaderId: string;
    readonly memberId: string;
    readonly members: readonly { readonly memberId: string; readonly memberMetadata: Buffer }[];
  }>;
  syncGroup(options: {
    readonly groupId: string;
    readonly generationId: number;
    readonly memberId: string;
    readonly groupAssignment: readonly { readonly memberId: string; readonly memberAssignment: Buffer }[];
  }): Promise<{ readonly memberAssignment: Buffer }>;
  heartbeat(options: { readonly groupId: string; readonly groupGenerationId: number; readonly memberId: string }): Promise<unknown>;
  leaveGroup(options: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
  offsetCommit(options: {
    readonly groupId: string;
    readonly groupGenerationId: number;
    readonly memberId: string;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
    }[];
  }): Promise<unknown>;
  initProducerId(options: {
    readonly transactionalId: string | null;
    readonly transactionTimeout: number;
  }): Promise<{ readonly producerId: string; readonly producerEpoch: number }>;
  addPartitionsToTxn(options: {
    readonly transactionalId: string;
    readonly producerId: string;
    readonly producerEpoch: number;
    readonly topics: readonly { readonly topic: string; readonly partitions: readonly number[] }[];
  }): Promise<unknown>;
  endTxn(options: {
    readonly transactionalId: string;
    readonly producerId: string;
    readonly producerEpoch: number;
    readonly transactionResult: boolean;
  }): Promise<unknown>;
}

/** What is used of kafkajs's `Connection`. */
interface BrokerConnection {
  readonly clientId: string;
  readonly socket: Writable;
  readonly requestQueue: {
    push(request: {
      readonly entry: {
        readonly apiKey: number;
        readonly apiName: string;
        readonly apiVersion: number;
        readonly correlationId: number;
        readonly resolve: (answer: { readonly payload: Uint8Array }) => void;
        readonly reject: (error: Error) => void;
      };
      readonly expectResponse: boolean;
      readonly requestTimeout: number | null;
      readonly sendRequest: () => void;
    }): void;
  };
  isAuthenticated(): boolean;
  authenticate(): Promise<void>;
  /** Throws. */
  failIfNotConnected(): void;
  nextCorrelationId(): number;
}

/** What is used of kafkajs's `Cluster`: one set of connections. */
export interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  refreshMetadata(): Promise<void>;
  findBroker(options: { readonly nodeId: string }): Promise<Broker>;
  getNodeIds(): readonly string[];
}

/**
 * @throws ServiceError `KAFKA_CLIENT_UNSUPPORTED` when another kafkajs is installed than the one this adapter was written for.
 */
export function checkKafkajs(): void {
  const found: unknown = createRequire(import.meta.url)('kafkajs/package.json');
  const version = typeof found === 'object' && found !== null && 'version' in found ? String(found.version) : 'none';
  if (version !== SUPPORTED_KAFKAJS_VERSION) throw foreignKafkajs(`version ${version} is installed`);
}

/** A kafkajs client for the settings; connects to nothing yet. */
export function makeKafka(settings: KafkaSettings, log: KafkaLog, clock: Clock): Kafka {
  const heard = new Map<string, number>();
  const { ssl, sasl } = settings;
  const config: KafkaConfig = {
    brokers: [...settings.brokers],
    clientId: settings.clientId,
    connectionTimeout: settings.connectionTimeoutMs,
    authenticationTimeout: settings.connectionTimeoutMs,
    requestTimeout: settings.requestTimeoutMs,
    // The callers of this adapter retry; inside, only what a connection attempt needs.
    retry: { initialRetryTime: 50, maxRetryTime: 1000, retries: 3 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      forwardLog(entry, (level, message, fields) => {
        // A broker that is down is reported at every attempt; one line per saying and interval is enough.
        const key = String(fields['said']);
        const now = clock.monotonicMs();
        if (now - (heard.get(key) ?? Number.NEGATIVE_INFINITY) < repeatedLogMs) return;
        if (heard.size >= maxRememberedLines) heard.clear();
        heard.set(key, now);
        log(level, message, fields);
      });
    },
    ...(ssl === undefined
      ? {}
      : {
          ssl: {
            rejectUnauthorized: ssl.rejectUnauthorized,
            ...(ssl.ca === undefined ? {} : { ca: [ssl.ca] }),
            ...(ssl.cert === undefined ? {} : { cert: ssl.cert }),
            ...(ssl.key === undefined ? {} : { key: ssl.key.reveal() }),
            ...(ssl.passphrase === undefined ? {} : { passphrase: ssl.passphrase.reveal() }),
            ...(ssl.serverName === undefined ? {} : { servername: ssl.serverName }),
          },
        }),
    ...(sasl === undefined ? {} : { sasl: saslOptions(sasl) }),
  };
  return new Kafka(config);
}

/** A set of connections of its own. Kafka answers a connection's requests in order, so whoever may wait long gets one. */
export function makeCluster(kafka: Kafka, options: { readonly readCommitted: boolean } = { readCommitted: true }): Cluster {
  const create = privateMethod(kafka, 'private:Kafka:createCluster');
  const made: unknown = create.call(kafka, {
    allowAutoTopicCreation: false,
    metadataMaxAge: metadataMaxAgeMs,
    isolationLevel: options.readCommitted ? 1 : 0,
  });
  if (!isCluster(made)) throw foreignKafkajs('its cluster has another shape');
  return made;
}

/** A request in our own encoding. */
export interface WireRequest<T> {
  readonly apiKey: number;
  readonly apiName: string;
  readonly apiVersion: number;
  readonly body: WireWriter;
  readonly parse: (reader: WireReader) => T;
  readonly timeoutMs?: number | undefined;
}

/**
 * Sends a request over one of the broker's connections, in their queue, which knows what is under way and for how long. Not by way of kafkajs's
 * encoder, which copies a request three times into memory of up to twice its size: long parts go to the socket as they are, and must not
 * change until the answer came or the connection is closed.
 *
 * @throws ServiceError `KAFKA_BROKER_TOO_OLD` when the broker does not speak the version; else what kafkajs throws.
 */
export async function sendTo<T>(broker: Broker, request: WireRequest<T>): Promise<T> {
  const range = broker.versions?.[request.apiKey];
  if (range !== undefined && (request.apiVersion < range.minVersion || request.apiVersion > range.maxVersion)) {
    throw serviceError.unsupported(
      'KAFKA_BROKER_TOO_OLD',
      `${request.apiName} version ${request.apiVersion} is outside the broker's range ${range.minVersion} to ${range.maxVersion}`,
      { hint: 'use a broker of Kafka 2.1 or later' },
    );
  }
  const connection = await broker.connectionPool.getConnectionByRequest({ request });
  if (!connection.isAuthenticated()) await connection.authenticate();
  try {
    const reader = new WireReader(await answerTo(connection, request), request.body.encoding);
    reader.tags(); // Of the response header.
    return request.parse(reader);
  } catch (error) {
    if (error instanceof Error && error.name === 'KafkaJSConnectionClosedError') await broker.disconnect();
    throw error;
  }
}

function answerTo(
  connection: BrokerConnection,
  { apiKey, apiName, apiVersion, body, timeoutMs }: WireRequest<unknown>,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    connection.failIfNotConnected();
    const correlationId = connection.nextCorrelationId();
    const message = new WireWriter().int16(apiKey).int16(apiVersion).int32(correlationId).string(connection.clientId).append(body);
    const pieces = new WireWriter().int32(message.byteLength).append(message).toPieces();
    connection.requestQueue.push({
      entry: {
        apiKey,
        apiName,
        apiVersion,
        correlationId,
        resolve: ({ payload }) => {
          resolve(payload);
        },
        reject,
      },
      expectResponse: true,
      requestTimeout: timeoutMs ?? null,
      sendRequest: () => {
        const { socket } = connection;
        socket.cork();
        for (const piece of pieces) socket.write(piece);
        socket.uncork();
      },
    });
  });
}

const metadataMaxAgeMs = 60_000;
const repeatedLogMs = 30_000;
const maxRememberedLines = 200;
const warnLevel: number = logLevel.WARN;

// These answers are part of normal work and are retried; kafkajs logs each as an error.
const expectedAnswers =
  /another transaction|concurrent|coordinator is loading|rebalance is in progress|rebalancing|coordinator is not (available|aware)|not the (correct|leader)|does not host this topic/i;

function forwardLog(
  entry: { readonly level: number; readonly namespace: string; readonly log: Readonly<Record<string, unknown>> },
  log: KafkaLog,
): void {
  const { message, error, broker, clientId, groupId } = entry.log;
  const said = [message, error].filter((part) => typeof part === 'string').join(': ');
  if (expectedAnswers.test(said)) return;
  // What is an error to kafkajs is retried or raised here, so nobody needs waking by the line itself.
  log(entry.level <= warnLevel ? 'warn' : 'debug', 'kafka client', { said, namespace: entry.namespace, broker, clientId, groupId });
}

function saslOptions(sasl: NonNullable<KafkaSettings['sasl']>): SASLOptions {
  return {
    mechanism: sasl.mechanism,
    username: sasl.username,
    // Asked at every log-in: the password may have changed in its file.
    get password() {
      return sasl.password.reveal();
    },
  };
}

type PrivateMethod = (this: object, options: unknown) => unknown;

function privateMethod(owner: object, description: string): PrivateMethod {
  for (let at: object | null = owner; at !== null; at = prototypeOf(at)) {
    for (const symbol of Object.getOwnPropertySymbols(at)) {
      if (symbol.description !== description) continue;
      const found: unknown = Reflect.get(owner, symbol);
      if (typeof found === 'function')
        return function (this: object, options: unknown) {
          return Reflect.apply(found, this, [options]) as unknown;
        };
    }
  }
  throw foreignKafkajs(`it has no "${description}"`);
}

function prototypeOf(value: object): object | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  return typeof prototype === 'object' ? prototype : null;
}

const clusterMethods = ['connect', 'disconnect', 'refreshMetadata', 'findBroker', 'getNodeIds'] as const;

function isCluster(value: unknown): value is Cluster {
  return typeof value === 'object' && value !== null && clusterMethods.every((name) => typeof Reflect.get(value, name) === 'function');
}

function foreignKafkajs(what: string): ServiceError {
  return serviceError.unsupported('KAFKA_CLIENT_UNSUPPORTED', `the installed kafkajs does not fit: ${what}`, {
    hint: `install kafkajs ${SUPPORTED_KAFKAJS_VERSION}`,
  });
}
