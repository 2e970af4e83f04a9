import type { IncomingMessage } from 'node:http';
import { MALFORMED_REQUEST, UNSUPPORTED_TRANSFER_CODING, type Reply } from '../reply/reply.js';
import { valuesOf } from './request-headers.js';

/** `uri-host [":" port]` of RFC 9110; it may be empty. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[\w\-.~!$&'()*+;=%]*)(?::\d{0,5})?$/i;

/**
 * What the parser lets pass and RFC 9112 does not. Whoever stands in front of us may have read such a request otherwise, so
 * nothing that follows it on its connection can be trusted.
 */
export function framingFault(request: IncomingMessage): Reply | undefined {
  return isHostSound(request) ? transferFault(request) : MALFORMED_REQUEST;
}

/** One Host, well formed, on every request (3.2); version 1.0 may do without. */
function isHostSound(request: IncomingMessage): boolean {
  const { host } = request.headers;
  if (host === undefined) return request.httpVersion !== '1.1';
  return HOST.test(host) && valuesOf(request, 'host').length === 1;
}

/** Chunks come last or the end cannot be told (6.3), they are all we undo (6.1), and version 1.0 has none. */
function transferFault(request: IncomingMessage): Reply | undefined {
  const given = request.headers['transfer-encoding'];
  if (given === undefined) return undefined;
  const codings = given.split(',').map((coding) => coding.trim().toLowerCase());
  if (request.httpVersion !== '1.1' || codings.at(-1) !== 'chunked') return MALFORMED_REQUEST;
  return codings.length === 1 ? undefined : UNSUPPORTED_TRANSFER_CODING;
}
