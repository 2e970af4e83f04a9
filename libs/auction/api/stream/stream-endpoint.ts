import { endpoint } from '#libs/edge/endpoint.js';

export const streamEndpoint = endpoint({
  operationId: 'openStream',
  method: 'GET',
  path: '/v1/stream',
  access: 'session',
  summary: 'Open the stream: a WebSocket handshake, see the AsyncAPI document',
  answers: { 101: { description: 'The handshake is accepted; from here on `/asyncapi.json` tells.' } },
  statuses: {
    426: ['upgrade_required'],
    429: ['stream_connection_limit'],
    503: ['draining', 'auction_owner_unavailable'],
  },
});
