import type {
  AsyncApi,
  StreamChannel,
  StreamMessage,
  StreamOperation,
} from '#libs/edge/documents/asyncapi-types.js';
import { Components } from '#libs/edge/documents/components.js';
import type { Reference } from '#libs/edge/documents/openapi-types.js';
import { explainFields } from '#libs/edge/documents/field-meanings.js';
import type { Shape } from '#libs/edge/documents/shapes.js';
import { CLIENT_MESSAGES } from '../../stream/client-messages.js';
import { SERVER_MESSAGES } from '../../stream/server-messages.js';
import { FIELD_MEANINGS } from './field-meanings.js';
import { INTERFACE_VERSION, recordedFrames } from './http-document.js';
import { clientShape, serverShape } from './stream-shapes.js';
import { CLIENT_TEXTS, CLOSE_CODES, SERVER_TEXTS, STREAM_INTRODUCTION } from './stream-text.js';

type Name = keyof typeof CLIENT_TEXTS;

const CHANNEL = '#/channels/stream';

/** Each client message has one of these for its reply. */
const REPLIES: Readonly<Record<string, readonly string[]>> = {
  hello: ['welcome', 'reject'],
  subscribe: ['subscribed', 'reject'],
  unsubscribe: ['unsubscribed', 'reject'],
  ping: ['pong', 'reject'],
};
const OTHER_REPLIES = ['ack', 'reject'];

/** Comes unasked. */
const NEWS = ['snapshot', 'event', 'heartbeat', 'resync', 'session_expiring', 'goaway'];

/** The AsyncAPI description of the stream, from the lists and decoders that the stream itself works with. */
export function streamDocument(): AsyncApi {
  const components = new Components();
  const examples = recordedFrames();
  const messageOf = (name: string, text: string, shape: Shape): readonly [string, StreamMessage] => [
    keyOf(name),
    {
      name,
      title: name,
      summary: text,
      payload: components.schemaOf(shape),
      ...(name in examples ? { examples: [{ name: 'recorded', payload: examples[name] }] } : {}),
    },
  ];
  const messages = Object.fromEntries([
    ...CLIENT_MESSAGES.map((name) => messageOf(name, CLIENT_TEXTS[name], clientShape(name))),
    ...SERVER_MESSAGES.map((name) => messageOf(name, SERVER_TEXTS[name], serverShape(name))),
  ]);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Sotto auctions: the stream',
      version: INTERFACE_VERSION,
      description: STREAM_INTRODUCTION,
      license: { name: 'Proprietary' },
    },
    defaultContentType: 'application/json',
    servers: SERVERS,
    channels: { stream: { ...CHANNEL_FACTS, messages } },
    operations: operations(),
    components: {
      securitySchemes: { session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: explainFields(components.schemas, FIELD_MEANINGS),
    },
  };
}

const SECURITY = [{ $ref: '#/components/securitySchemes/session' }];

/** A gateway speaks plainly; in production it stands behind whatever ends TLS. */
const SERVERS: AsyncApi['servers'] = {
  production: {
    host: '{host}',
    protocol: 'wss',
    description: 'A gateway behind TLS, as everywhere but on the machine of a developer',
    variables: { host: { description: 'Host, and port where it is not 443' } },
    security: SECURITY,
  },
  local: {
    host: 'localhost:{port}',
    protocol: 'ws',
    description: 'What `npm start` starts',
    variables: { port: { description: '`PORT`', default: '8080' } },
    security: SECURITY,
  },
};

const CHANNEL_FACTS: Omit<StreamChannel, 'messages'> = {
  address: '/v1/stream',
  title: 'The stream',
  description: 'One connection carries everything in both directions.',
  bindings: {
    ws: {
      method: 'GET',
      headers: {
        type: 'object',
        properties: {
          Authorization: { type: 'string', description: '`Bearer <session JWT>`' },
          'Sec-WebSocket-Protocol': {
            type: 'string',
            description:
              '`authorization, Bearer.<base64url(session JWT)>`, where `Authorization` cannot be set',
          },
        },
      },
      bindingVersion: '0.1.0',
    },
  },
  'x-close-codes': CLOSE_CODES,
};

function operations(): Readonly<Record<string, StreamOperation>> {
  const said = CLIENT_MESSAGES.map((name: Name): [string, StreamOperation] => [
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
    messages: NEWS.map(refTo),
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
