import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '#libs/platform/clock.js';
import { boundConnectionsPerAddress } from './addresses.js';
import type { BodyFault, Connections } from './connections.js';
import {
  payloadOf,
  HEADERS_TOO_LARGE,
  INTERNAL_HEADERS,
  MALFORMED_REQUEST,
  REQUEST_TIMEOUT,
  methodNotAllowed,
  type Reply,
} from './reply.js';
import { carriesInternalHeader } from './request-headers.js';
import { serverOptions, type ServerLimits } from './server-limits.js';

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export interface RefusalPorts {
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly newRequestId: () => string;
}

export interface ServerPorts extends RefusalPorts {
  readonly connections: Connections;
}

/** A listener that holds all of the limits, and answers in the common envelope even what never becomes a request. */
export function createEdgeServer(listener: Listener, ports: ServerPorts): Server {
  const { limits } = ports;
  const server = createServer(serverOptions(limits), listener);
  server.maxConnections = limits.connections;
  boundConnectionsPerAddress(server, limits.connectionsPerAddress);
  // Past a count Node drops headers silently, an internal one perhaps: their bytes are bounded, their count is checked later.
  server.maxHeadersCount = 0;
  server.setTimeout(limits.idleTimeout);
  // A client may close its sending side behind the request; by default Node then drops the answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  // The dispatcher says `100 Continue` when it is about to read the body. Other expectations may be ignored (RFC 9110, 10.1.1).
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('connect', (request, socket) => {
    refuse(socket, carriesInternalHeader(request.headers) ? INTERNAL_HEADERS : methodNotAllowed([]), ports);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    onParseError(error, socket, ports);
  });
  return server;
}

function onParseError(error: NodeJS.ErrnoException, socket: Duplex, ports: ServerPorts): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const fault: BodyFault = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'timeout' : 'malformed';
  ports.connections.parserFailed(socket, fault, () => {
    refuse(socket, replyTo(error.code), ports);
  });
}

function replyTo(code: string | undefined): Reply {
  if (code === 'HPE_HEADER_OVERFLOW') return HEADERS_TOO_LARGE;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? REQUEST_TIMEOUT : MALFORMED_REQUEST;
}

/** Answers on the bare socket and closes it, a moment later: closing at once could reset the answer away. */
export function refuse(socket: Duplex, reply: Reply, ports: RefusalPorts): void {
  if (!socket.writable) return;
  const body = payloadOf(reply) ?? '';
  const lines = [
    `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}`,
    `x-request-id: ${ports.newRequestId()}`,
    'cache-control: no-store',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...Object.entries(reply.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
  const cancel = ports.clock.after(ports.limits.lingerTimeout, () => socket.destroy());
  socket.once('close', cancel);
}
