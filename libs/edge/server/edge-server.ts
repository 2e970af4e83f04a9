import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { Server as SocketServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, nextTurn } from '#libs/platform/time/clock.js';
import type { BodyFault, Connections } from './connections.js';
import type { Dialect } from '../dialect/dialect.js';
import type { FaultKind } from '../dialect/fault.js';
import { carriesHeader } from '../exchange/request-headers.js';
import { payloadOf, type Reply } from '../reply/reply.js';
import { type ServerLimits, serverOptions } from './server-limits.js';
import { networkOf } from '#libs/platform/network-of.js';

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export interface RefusalPorts {
  readonly dialect: Dialect;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly newRequestId: () => string;
}

export interface ServerPorts extends RefusalPorts {
  readonly connections: Connections;
}

/** A server that applies all limits and answers malformed requests in the envelope of the dialect. */
export function createEdgeServer(listener: Listener, ports: ServerPorts): Server {
  const { limits } = ports;
  const server = createServer(serverOptions(limits), listener);
  server.maxConnections = limits.connections;
  boundConnectionsPerAddress(server, limits.connectionsPerAddress);
  // Node would silently drop headers past a count, perhaps an internal one. Their bytes are bounded; a check counts them later.
  server.maxHeadersCount = 0;
  server.setTimeout(limits.idleTimeout);
  // A client may close its sending side after the request; by default Node then drops the answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  // The dispatcher sends `100 Continue` before it reads the body. Other expectations may be ignored (RFC 9110, 10.1.1).
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('connection', (socket) => {
    ports.connections.opened(socket);
  });
  server.on('connect', (request, socket) => {
    ports.connections.handOver(socket);
    const { dialect } = ports;
    const isInternal = carriesHeader(request.headers, dialect.internalHeaders);
    const fault = isInternal
      ? ({ kind: 'internal-header' } as const)
      : ({ kind: 'method-not-allowed', methods: [] } as const);
    refuse(socket, dialect.refuse(fault), ports);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    onParseError(error, socket, ports);
  });
  return server;
}

/** Most turns of the event loop for accepting waiting connections at the end. Under load there are always some. */
const LAST_TURNS = 256;

/**
 * Stops listening. Resolves when no connection is left. The HTTP server's own `close` would destroy every connection whose reply
 * is written but not fully read.
 */
export async function stopListening(server: Server): Promise<void> {
  await untilNoneWaits(server);
  return new Promise((resolve) => {
    SocketServer.prototype.close.call(server, () => {
      resolve();
    });
  });
}

/** Closing resets connections that wait to be accepted. A turn of the event loop accepts one; a turn without any ends the wait. */
async function untilNoneWaits(server: Server): Promise<void> {
  let accepted = 0;
  const count = (): void => {
    accepted += 1;
  };
  server.on('connection', count);
  await nextTurn();
  for (let turn = 0, before = -1; turn < LAST_TURNS && accepted > before; turn += 1) {
    before = accepted;
    await nextTurn();
  }
  server.off('connection', count);
}

function onParseError(error: NodeJS.ErrnoException, socket: Duplex, ports: ServerPorts): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const fault: BodyFault = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'timeout' : 'malformed';
  ports.connections.parserFailed(socket, fault, () => {
    refuse(socket, ports.dialect.refuse({ kind: faultOf(error.code) }), ports);
  });
}

function faultOf(code: string | undefined): FaultKind {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers-too-large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request-timeout' : 'malformed-request';
}

/** Sends a reply on the bare socket and closes it later, because closing at once could lose the reply. */
export function refuse(socket: Duplex, reply: Reply, ports: RefusalPorts): void {
  // Node does not handle errors of sockets that ask for a tunnel or an upgrade. A reset must not end the process.
  socket.on('error', () => {
    socket.destroy();
  });
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = payloadOf(reply) ?? '';
  const headers = {
    [ports.dialect.requestId.header]: ports.newRequestId(),
    ...ports.dialect.replyHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...reply.headers,
  };
  const lines = [
    `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
  const cancel = ports.clock.after(ports.limits.lingerTimeout, () => socket.destroy());
  socket.once('close', cancel);
}

/** Closes connections beyond the limit of one network address, as Node does beyond the total. */
export function boundConnectionsPerAddress(server: Server, limit: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const count = (open.get(network) ?? 0) + 1;
    open.set(network, count);
    socket.once('close', () => {
      const left = (open.get(network) ?? 0) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
    if (count > limit) socket.destroy();
  });
}
