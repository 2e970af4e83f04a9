import { streamDescription } from '#libs/edge/documents/asyncapi.js';
import type { AsyncApi } from '#libs/edge/documents/asyncapi-types.js';
import { CLIENT_MESSAGES } from '../../stream/client-messages.js';
import { SERVER_MESSAGES } from '../../stream/server-messages.js';
import { FIELD_MEANINGS } from './field-meanings.js';
import { INTERFACE_VERSION, recordedFrames } from './http-document.js';
import { clientShape, serverShape } from './stream-shapes.js';
import { CLIENT_TEXTS, CLOSE_CODES, SERVER_TEXTS, STREAM_INTRODUCTION } from './stream-text.js';

/** The AsyncAPI description of the stream, made from the lists and decoders that the stream itself uses. */
export function streamDocument(): AsyncApi {
  return streamDescription({
    info: {
      title: 'Sotto auctions: the stream',
      version: INTERFACE_VERSION,
      description: STREAM_INTRODUCTION,
    },
    address: '/v1/stream',
    title: 'The stream',
    port: { setting: 'PORT', default: '8080' },
    securitySchemes: { session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    headers: {
      Authorization: '`Bearer <session JWT>`',
      'Sec-WebSocket-Protocol':
        '`authorization, Bearer.<base64url(session JWT)>`, where `Authorization` cannot be set',
    },
    closeCodes: CLOSE_CODES,
    client: CLIENT_MESSAGES.map((name) => ({ name, text: CLIENT_TEXTS[name], shape: clientShape(name) })),
    server: SERVER_MESSAGES.map((name) => ({ name, text: SERVER_TEXTS[name], shape: serverShape(name) })),
    refusal: 'reject',
    meanings: FIELD_MEANINGS,
    examples: recordedFrames(),
  });
}
