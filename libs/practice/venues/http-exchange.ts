import type { IncomingMessage, ServerResponse } from 'node:http';
import type { VenueAnswer, VenueRequest } from './venue-shell.js';

const MOST_BYTES = 256 * 1024;

/** The request, or the answer to one that cannot be read. */
export async function readRequest(request: IncomingMessage): Promise<VenueRequest | VenueAnswer> {
  const { method = 'GET', url = '/', headers } = request;
  if (!URL.canParse(url, 'http://venue')) return { status: 400 };
  const { pathname, searchParams } = new URL(url, 'http://venue');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return { status: 413 };
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks).toString('utf8');
  return { method, path: pathname, query: searchParams, headers, body };
}

export function send(response: ServerResponse, { status, body }: VenueAnswer): void {
  if (response.destroyed || response.headersSent) return;
  response.statusCode = status;
  if (body === undefined) {
    response.end();
    return;
  }
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}

/** Decodes a part of a path. Returns it unchanged if it is badly encoded. */
export function plainText(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
