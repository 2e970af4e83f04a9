import type { AsyncApi, StreamMessage, StreamOperation } from './asyncapi-types.js';
import { Components } from './components.js';
import { explainFields } from './field-meanings.js';
import type { OpenApi, Reference } from './openapi-types.js';
import type { Shape } from './shapes.js';

/** A message by its name: what it says, and in which shape. */
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
  /** The setting of the port, and what it is by itself. */
  readonly port: { readonly setting: string; readonly default: string };
  readonly securitySchemes: AsyncApi['components']['securitySchemes'];
  /** Headers of the handshake, by what they hold. */
  readonly headers: Readonly<Record<string, string>>;
  readonly closeCodes: Readonly<Record<string, string>>;
  readonly client: readonly MessageText[];
  readonly server: readonly MessageText[];
  /** What a message is answered with that was not obeyed. */
  readonly refusal: string;
  /** Of fields, by their names. */
  readonly meanings: Readonly<Record<string, string>>;
  readonly examples?: Readonly<Record<string, unknown>>;
}

const CHANNEL = '#/channels/stream';
/** What these are answered with; anything else that is obeyed is with `ack`. */
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
    Object.entries(facts.headers).map(([name, held]) => [name, described(held)]),
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

/** A gateway speaks plainly; in production it stands behind whatever ends TLS. */
function serversOf({ port, securitySchemes }: StreamFacts): AsyncApi['servers'] {
  const security = Object.keys(securitySchemes).map((name) => ({
    $ref: `#/components/securitySchemes/${name}`,
  }));
  return {
    production: {
      host: '{host}',
      protocol: 'wss',
      description: 'Behind TLS, as everywhere but on the machine of a developer',
      variables: { host: { description: 'Host, and port where it is not 443' } },
      security,
    },
    local: {
      host: 'localhost:{port}',
      protocol: 'ws',
      description: 'What `npm start` starts',
      variables: { port: { description: `\`${port.setting}\``, default: port.default } },
      security,
    },
  };
}

function operationsOf({ client, server, refusal }: StreamFacts): AsyncApi['operations'] {
  const channel = { $ref: CHANNEL };
  const repliesTo = (name: string): readonly string[] => [REPLIES[name] ?? 'ack', refusal];
  const said = client.map(({ name, text }): [string, StreamOperation] => [
    keyOf(name),
    {
      ...{ action: 'receive', channel, summary: text, messages: [refTo(name)] },
      reply: { channel, messages: repliesTo(name).map(refTo) },
    },
  ]);
  const answers = new Set(client.flatMap(({ name }) => repliesTo(name)));
  const news = server.map(({ name }) => name).filter((name) => !answers.has(name));
  const told = { action: 'send', channel, summary: 'What the server says unasked.' } as const;
  return { ...Object.fromEntries(said), news: { ...told, messages: news.map(refTo) } };
}

function refTo(name: string): Reference {
  return { $ref: `${CHANNEL}/messages/${keyOf(name)}` };
}

/** Names with dots and underscores, as keys that everybody can read. */
function keyOf(name: string): string {
  return name.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase());
}
