import type {
  AsyncApi,
  StreamChannel,
  StreamMessage,
  StreamOperation,
} from '#libs/edge/documents/asyncapi-types.js';
import { Components } from '#libs/edge/documents/components.js';
import { explainFields } from '#libs/edge/documents/field-meanings.js';
import type { Reference } from '#libs/edge/documents/openapi-types.js';
import type { Shape } from '#libs/edge/documents/shapes.js';
import { CLIENT_OPS } from '../../stream/client-messages.js';
import { SERVER_MESSAGES } from '../../stream/server-messages.js';
import { clientShape, serverShape } from './socket-shapes.js';
import {
  CLIENT_TEXTS,
  CLOSE_CODES,
  SERVER_TEXTS,
  SOCKET_FIELD_MEANINGS,
  SOCKET_INTRODUCTION,
} from './socket-text.js';

const CHANNEL = '#/channels/stream';

/** Each message of a client has one of these for its reply. */
const REPLIES: Readonly<Record<string, readonly string[]>> = {
  hello: ['welcome', 'error'],
  subscribe: ['subscribed', 'error'],
  unsubscribe: ['unsubscribed', 'error'],
  ping: ['pong', 'error'],
};
const OTHER_REPLIES = ['ack', 'error'];
const ANSWERS = new Set([...Object.values(REPLIES).flat(), ...OTHER_REPLIES]);

/** The AsyncAPI description of `/ws`, from the lists and decoders that the socket itself works with. */
export function socketDocument(version: string): AsyncApi {
  const components = new Components();
  const messageOf = (name: string, text: string, shape: Shape): readonly [string, StreamMessage] => [
    keyOf(name),
    { name, title: name, summary: text, payload: components.schemaOf(shape) },
  ];
  const messages = Object.fromEntries([
    ...CLIENT_OPS.map((name) => messageOf(name, CLIENT_TEXTS[name], clientShape(name))),
    ...SERVER_MESSAGES.map((name) => messageOf(name, SERVER_TEXTS[name], serverShape(name))),
  ]);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Sotto order execution: /ws',
      version,
      description: SOCKET_INTRODUCTION,
      license: { name: 'Proprietary' },
    },
    defaultContentType: 'application/json',
    servers: SERVERS,
    channels: { stream: { ...CHANNEL_FACTS, messages } },
    operations: operations(),
    components: {
      securitySchemes: {
        session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        apiKey: { type: 'httpApiKey', in: 'header', name: 'X-Api-Key' },
      },
      schemas: explainFields(components.schemas, SOCKET_FIELD_MEANINGS),
    },
  };
}

const SECURITY = [
  { $ref: '#/components/securitySchemes/session' },
  { $ref: '#/components/securitySchemes/apiKey' },
];

const SERVERS: AsyncApi['servers'] = {
  production: {
    host: '{host}',
    protocol: 'wss',
    description: 'Behind TLS, as everywhere but on the machine of a developer',
    variables: { host: { description: 'Host, and port where it is not 443' } },
    security: SECURITY,
  },
  local: {
    host: 'localhost:{port}',
    protocol: 'ws',
    description: 'What `npm start` starts',
    variables: { port: { description: '`EXECUTION_PORT`', default: '8090' } },
    security: SECURITY,
  },
};

const text = (description: string): object => ({ type: 'string', description });

const CHANNEL_FACTS: Omit<StreamChannel, 'messages'> = {
  address: '/ws',
  title: 'The socket',
  description: 'One connection carries everything in both directions.',
  bindings: {
    ws: {
      method: 'GET',
      headers: {
        type: 'object',
        properties: {
          'X-Client-Id': text('Of an API key'),
          'X-Api-Key': text('Of an API key'),
          'X-Api-Secret': text('Of an API key'),
          Authorization: text('`Bearer <session JWT>`'),
          'Sec-WebSocket-Protocol': text('`authorization, Bearer.<base64url(session JWT)>`'),
        },
      },
      bindingVersion: '0.1.0',
    },
  },
  'x-close-codes': CLOSE_CODES,
};

function operations(): Readonly<Record<string, StreamOperation>> {
  const said = CLIENT_OPS.map((name): [string, StreamOperation] => [
    keyOf(name),
    {
      action: 'receive',
      channel: { $ref: CHANNEL },
      summary: CLIENT_TEXTS[name],
      messages: [refTo(name)],
      reply: { channel: { $ref: CHANNEL }, messages: (REPLIES[name] ?? OTHER_REPLIES).map(refTo) },
    },
  ]);
  const told: StreamOperation = {
    action: 'send',
    channel: { $ref: CHANNEL },
    summary: 'What the server says unasked.',
    messages: SERVER_MESSAGES.filter((name) => !ANSWERS.has(name)).map(refTo),
  };
  return { ...Object.fromEntries(said), news: told };
}

function refTo(name: string): Reference {
  return { $ref: `${CHANNEL}/messages/${keyOf(name)}` };
}

/** Names with dots and underscores, as keys that everybody can read. */
function keyOf(name: string): string {
  return name.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase());
}
