import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Dialect } from '../dialect/dialect.js';

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;
const JSON_TYPE = /^application\/json(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?$/i;
const LONGEST_TYPE = 64;

/** `names` in lower case. */
export function carriesHeader(headers: IncomingHttpHeaders, names: readonly string[]): boolean {
  for (const name of names) {
    if (headers[name] !== undefined) return true;
  }
  return false;
}

/** Every value of a header, in order. Node joins or drops repeated ones, which would hide the repetition. */
export function valuesOf(request: IncomingMessage, name: string): string[] {
  const raw = request.rawHeaders;
  const values: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const candidate = raw[at];
    if (candidate?.length === name.length && candidate.toLowerCase() === name) values.push(raw[at + 1] ?? '');
  }
  return values;
}

/** The token of the Authorization header. Undefined if there is none, more than one, or one of another form. */
export function bearerToken(request: IncomingMessage): string | undefined {
  if (request.headers.authorization === undefined) return undefined;
  const values = valuesOf(request, 'authorization');
  return values.length === 1 ? BEARER.exec(values[0] ?? '')?.[1] : undefined;
}

const PROTOCOLS = /^authorization, *Bearer\.([A-Za-z0-9_-]+)$/;

/** Browsers cannot set headers of a handshake, so the token comes as the second of two subprotocols. */
export function protocolToken(request: IncomingMessage): string | undefined {
  const encoded = PROTOCOLS.exec(request.headers['sec-websocket-protocol'] ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64url');
  return bytes.toString('base64url') === encoded ? bytes.toString('latin1') : undefined;
}

export function isEncoded(request: IncomingMessage): boolean {
  return request.headers['content-encoding'] !== undefined;
}

/** True for JSON, and for a request without a content type. */
export function isJsonContent(request: IncomingMessage): boolean {
  if (request.headers['content-type'] === undefined) return true;
  const types = valuesOf(request, 'content-type');
  const type = types[0] ?? '';
  return types.length === 1 && type.length <= LONGEST_TYPE && JSON_TYPE.test(type);
}

/** The caller's id for its request. Undefined if there is none, or if it does not match the dialect's pattern. */
export function givenRequestId(
  request: IncomingMessage,
  { header, pattern }: Dialect['requestId'],
): string | undefined {
  const id = request.headers[header];
  return typeof id === 'string' && pattern.test(id) ? id : undefined;
}

/** True if the client waits for `100 Continue` before it sends its body (RFC 9110, 10.1.1). */
export function awaitsContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue' && request.httpVersion === '1.1';
}
