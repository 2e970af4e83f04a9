import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Gauge, type Registry } from 'prom-client';
import { type Health, type HealthCheck, PolledReadiness, withinBound } from './polled-readiness.js';
import { addressOf, isEverywhere } from './internal-host.js';
import { EXIT, isCodedError, NO_ADDRESS_OF_OURS, StartFault } from '../process/start-fault.js';
import { SystemClock } from '../time/system-clock.js';
import { createHash, timingSafeEqual } from 'node:crypto';

export interface InternalRoutes {
  readonly registry: Registry;
  /** Must answer from memory, so that it reports the process alive even if everything else is down. */
  readonly healthz: HealthCheck;
  readonly readyz: HealthCheck;
  /** A reader of `/metrics` on another machine must present one of them as bearer. Without any, only this machine can read. */
  readonly metricsTokens?: readonly string[] | undefined;
}

export interface InternalServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface InternalHandler {
  /** False if the path is not one of these. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** Stops polling readiness. */
  stop(): void;
}

/** Creates a handler for `/metrics`, `/healthz` and `/readyz`. */
export function internalHandler(routes: InternalRoutes): InternalHandler {
  const readiness = new PolledReadiness(routes.readyz);
  measureReadiness(routes.registry, readiness);
  const stop = readiness.follow(new SystemClock());
  const handle = (request: IncomingMessage, response: ServerResponse): boolean => {
    const path = request.url?.split('?', 1)[0];
    if (path === '/metrics') {
      if (mayReadMetrics(request, routes.metricsTokens)) void answerMetrics(response, routes.registry);
      else response.writeHead(403).end();
    } else if (path === '/healthz') void answerHealth(response, withinBound(routes.healthz));
    else if (path === '/readyz') void answerHealth(response, readiness.ask());
    else return false;
    return true;
  };
  return { handle, stop };
}

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;
const BEARER = /^Bearer (\S+)$/i;

/** Metrics need a token, because they reveal how much is traded. Health does not, for orchestrators. */
function mayReadMetrics({ headers, socket }: IncomingMessage, tokens: readonly string[] = []): boolean {
  if (LOOPBACK.test(socket.remoteAddress ?? '')) return true;
  return isValidToken(BEARER.exec(headers.authorization ?? '')?.[1], tokens);
}

/** Exports readiness as a metric, for operators who watch only metrics. */
function measureReadiness(registry: Registry, readiness: PolledReadiness): void {
  new Gauge({
    name: 'sotto_ready',
    help: 'Whether this process last answered /readyz with 200',
    registers: [registry],
    collect() {
      this.set(readiness.isReady ? 1 : 0);
    },
  });
}

const BOUNDS = {
  /** Gateways, scrapers and orchestrators are some dozens. More connections must not use up the process's file descriptors. */
  connections: 2_048,
  /** A client that connects and sends nothing is disconnected. Upgraded links are not affected. */
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
};

/** Bounded, because anyone on the internal network can connect without a token. */
export function createInternalServer(listener?: RequestListener, bounds = BOUNDS): Server {
  const { connections, ...timeouts } = bounds;
  const server = createServer(timeouts, listener);
  server.maxConnections = connections;
  return server;
}

/** Starts a listener, on loopback by default. */
export async function startInternalServer(
  routes: InternalRoutes,
  port: number,
  host = '127.0.0.1',
): Promise<InternalServer> {
  const handler = internalHandler(routes);
  const server = createInternalServer((request, response) => {
    if (!handler.handle(request, response)) response.writeHead(404).end();
  });
  try {
    await listen(server, port, host);
  } catch (error) {
    handler.stop();
    throw error;
  }
  const close = (): Promise<void> => {
    handler.stop();
    return closeServer(server);
  };
  return { port: (server.address() as AddressInfo).port, close };
}

export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refused = (error: Error): void => {
      reject(isNoAddress(error) ? noAddress(host, error) : error);
    };
    server.once('error', refused);
    server.listen({ port, host: addressOf(host) }, () => {
      server.off('error', refused);
      const { address } = server.address() as AddressInfo;
      if (!isEverywhere(address)) resolve();
      else {
        server.close();
        reject(
          new StartFault(
            `INTERNAL_HOST: ${host} means all interfaces at once, but must name one`,
            EXIT.config,
          ),
        );
      }
    });
  });
}

function isNoAddress(error: Error): error is Error & { readonly code: string } {
  return isCodedError(error) && NO_ADDRESS_OF_OURS.has(error.code);
}

function noAddress(host: string, { code }: { readonly code: string }): StartFault {
  return new StartFault(
    `INTERNAL_HOST: ${host} is neither an address nor an interface of this machine (${code})`,
    EXIT.config,
  );
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}

async function answerMetrics(response: ServerResponse, registry: Registry): Promise<void> {
  try {
    const body = await registry.metrics();
    response.setHeader('content-type', registry.contentType).end(body);
  } catch {
    sendJson(response, 500, { status: 'metrics_failed' });
  }
}

async function answerHealth(response: ServerResponse, pending: Promise<Health>): Promise<void> {
  const health = await pending;
  sendJson(response, health.ok ? 200 : 503, { status: health.status });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status;
  // Not with `writeHead`, which would send the headers without the length.
  response.setHeader('content-type', 'application/json').setHeader('cache-control', 'no-store');
  response.end(JSON.stringify(body));
}

/** Compares digests, so that the time reveals neither the length nor the first difference. */
export function isValidToken(
  presented: string | string[] | undefined,
  validTokens: readonly string[],
): boolean {
  if (typeof presented !== 'string') return false;
  const digest = createHash('sha256').update(presented).digest();
  let matches = false;
  for (const token of validTokens) {
    if (timingSafeEqual(digest, createHash('sha256').update(token).digest())) matches = true;
  }
  return matches;
}
