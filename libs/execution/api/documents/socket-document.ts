import { streamDescription } from '#libs/edge/documents/asyncapi.js';
import type { AsyncApi } from '#libs/edge/documents/asyncapi-types.js';
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

/** The AsyncAPI document of `/ws`, made from the lists and decoders that the socket itself uses. */
export function socketDocument(version: string): AsyncApi {
  return streamDescription({
    info: { title: 'Sotto order execution: /ws', version, description: SOCKET_INTRODUCTION },
    address: '/ws',
    title: 'The socket',
    port: { setting: 'EXECUTION_PORT', default: '8090' },
    securitySchemes: {
      session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      apiKey: { type: 'httpApiKey', in: 'header', name: 'X-Api-Key' },
    },
    headers: {
      'X-Client-Id': 'A part of the API key',
      'X-Api-Key': 'A part of the API key',
      'X-Api-Secret': 'A part of the API key',
      Authorization: '`Bearer <session JWT>`',
      'Sec-WebSocket-Protocol': '`authorization, Bearer.<base64url(session JWT)>`',
    },
    closeCodes: CLOSE_CODES,
    client: CLIENT_OPS.map((name) => ({ name, text: CLIENT_TEXTS[name], shape: clientShape(name) })),
    server: SERVER_MESSAGES.map((name) => ({ name, text: SERVER_TEXTS[name], shape: serverShape(name) })),
    refusal: 'error',
    meanings: SOCKET_FIELD_MEANINGS,
  });
}
