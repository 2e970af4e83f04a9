import type { AsyncApi, StreamMessage, StreamOperation } from './asyncapi-types.js';
import { Components } from './components.js';
import { explainFields } from './field-meanings.js';
import type { OpenApi, Reference } from './openapi-types.js';
import type { Shape } from './shapes.js';

/** The name, the meaning and the shape of a message. */
export interface MessageText {
  readonly name: string;
  readonly text: string;
  readonly shape: Shape;
}

/** What differs from one stream to another. */
export interface StreamFacts {
  readonly info: Omit<OpenApi['info'], 'license'>;
  readonly address: string;
  readonly title: string;
  /** The setting of the port, and its default. */
  readonly port: { readonly setting: string; readonly default: string };
  readonly securitySchemes: AsyncApi['components']['securitySchemes'];
  /** Headers of the handshake, with their descriptions. */
  readonly headers: Readonly<Record<string, string>>;
  readonly closeCodes: Readonly<Record<string, string>>;
  readonly client: readonly MessageText[];
  readonly server: readonly MessageText[];
  /** The name of the reply to a refused message. */
  readonly refusal: string;
  /** Descriptions of fields, by name. */
  readonly meanings: Readonly<Record<string, string>>;
  readonly examples?: Readonly<Record<string, unknown>>;
}

const CHANNEL = '#/channels/stream';
/** Messages with a reply of their own. Any other accepted message is answered with `ack`. */
const REPLIES: Readonly<Record<string, string>> = {
  hello: 'welcome',
  subscribe: 'subscribed',
  unsubscribe: 'unsubscribed',
  ping: 'pong',
};

/** The AsyncAPI description of a stream. */
export function streamDescription(facts: StreamFacts): AsyncApi {
  const { address, title, client, server, examples = {} } = facts;
  const components = new Components();
  const messageOf = ({ name, text, shape }: MessageText): readonly [string, StreamMessage] => [
    keyOf(name),
    {
      ...{ name, title: name, summary: text, payload: components.schemaOf(shape) },
      ...(name in examples ? { examples: [{ name: 'recorded', payload: examples[name] }] } : {}),
    },
  ];
  const messages = Object.fromEntries([...client, ...server].map(messageOf));
  const described = (description: string): object => ({ type: 'string', description });
  const properties = Object.fromEntries(
    Object.entries(facts.headers).map(([name, meaning]) => [name, described(meaning)]),
  );
  const headers = { type: 'object', properties };
  return {
    asyncapi: '3.0.0',
    info: { ...facts.info, license: { name: 'Proprietary' } },
    defaultContentType: 'application/json',
    servers: serversOf(facts),
    channels: {
      stream: {
        ...{ address, title, description: 'One connection carries everything in both directions.' },
        bindings: { ws: { method: 'GET', headers, bindingVersion: '0.1.0' } },
        'x-close-codes': facts.closeCodes,
        messages,
      },
    },
    operations: operationsOf(facts),
    components: {
      securitySchemes: facts.securitySchemes,
      schemas: explainFields(components.schemas, facts.meanings),
    },
  };
}

/** A gateway does not use TLS itself. In production a proxy in front of it ends TLS. */
function serversOf({ port, securitySchemes }: StreamFacts): AsyncApi['servers'] {
  const security = Object.keys(securitySchemes).map((name) => ({
    $ref: `#/components/securitySchemes/${name}`,
  }));
  return {
    production: {
      host: '{host}',
      protocol: 'wss',
      description: 'With TLS, as everywhere except on a developer machine',
      variables: { host: { description: 'Host, and port if it is not 443' } },
      security,
    },
    local: {
      host: 'localhost:{port}',
      protocol: 'ws',
      description: 'Started by `npm start`',
      variables: { port: { description: `\`${port.setting}\``, default: port.default } },
      security,
    },
  };
}

function operationsOf({ client, server, refusal }: StreamFacts): AsyncApi['operations'] {
  const channel = { $ref: CHANNEL };
  const repliesTo = (name: string): readonly string[] => [REPLIES[name] ?? 'ack', refusal];
  const requests = client.map(({ name, text }): [string, StreamOperation] => [
    keyOf(name),
    {
      ...{ action: 'receive', channel, summary: text, messages: [refTo(name)] },
      reply: { channel, messages: repliesTo(name).map(refTo) },
    },
  ]);
  const answers = new Set(client.flatMap(({ name }) => repliesTo(name)));
  const news = server.map(({ name }) => name).filter((name) => !answers.has(name));
  const unsolicited = {
    action: 'send',
    channel,
    summary: 'Messages that the server sends without a request.',
  } as const;
  return { ...Object.fromEntries(requests), news: { ...unsolicited, messages: news.map(refTo) } };
}

function refTo(name: string): Reference {
  return { $ref: `${CHANNEL}/messages/${keyOf(name)}` };
}

/** Turns a name with dots and underscores into a key in camel case. */
function keyOf(name: string): string {
  return name.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase());
}
