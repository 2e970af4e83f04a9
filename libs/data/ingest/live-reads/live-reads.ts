import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInternalServer, listen } from '#libs/platform/internal-server/internal-server.js';
import { PROVIDERS, type Provider } from '../../rules/providers.js';
import { LiveReadFailed, type LiveSource } from './port.js';

export interface LiveReadsPorts {
  /** The venues that a source of this process feeds. */
  readonly sources: ReadonlyMap<Provider, LiveSource>;
  readonly onFault: (error: unknown) => void;
}

/** Answers live reads in place of the venues, on loopback only. */
export interface LiveReads {
  readonly port: number;
  /** The base URL for a venue; undefined if no source feeds it. */
  addressOf(provider: Provider): string | undefined;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const BOUNDS = {
  connections: 256,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
};

export async function openLiveReads(ports: LiveReadsPorts, port: number): Promise<LiveReads> {
  const server = createInternalServer((request, response) => {
    void answer(request, ports).then((reply) => send(response, reply));
  }, BOUNDS);
  await listen(server, port, LOOPBACK);
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    addressOf: (provider) =>
      ports.sources.has(provider) ? `http://${LOOPBACK}:${String(bound)}/${letterOf(provider)}` : undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function letterOf(provider: Provider): string {
  return provider.slice(-1);
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const refused = (status: number, error: string): Answer => ({ status, body: { error } });
const NOT_FOUND = refused(404, 'not found');

async function answer(request: IncomingMessage, { sources, onFault }: LiveReadsPorts): Promise<Answer> {
  const { method, url = '/' } = request;
  if (method !== 'GET') return refused(405, 'only GET');
  if (!URL.canParse(url, 'http://live')) return refused(400, 'bad address');
  const { pathname, searchParams } = new URL(url, 'http://live');
  const [, letter, ...path] = pathname.split('/').map(plainText);
  const provider = PROVIDERS.find((each) => letterOf(each) === letter);
  const source = provider === undefined ? undefined : sources.get(provider);
  if (source === undefined) return NOT_FOUND;
  try {
    return await read(source, path.join('/'), path, searchParams);
  } catch (error) {
    onFault(error);
    const status = error instanceof LiveReadFailed ? error.status : 502;
    return refused(status, 'the venue cannot be read');
  }
}

async function read(
  source: LiveSource,
  route: string,
  path: readonly string[],
  query: URLSearchParams,
): Promise<Answer> {
  if (route === 'trades' && source.tradesOfA !== undefined) {
    const limit = limitOf(query);
    const ids = idsOf(query.get('market'));
    if (limit === undefined || ids === undefined) return refused(400, 'bad parameters');
    return { status: 200, body: await source.tradesOfA(ids, limit) };
  }
  if (route === 'markets/trades' && source.tradesOfB !== undefined) {
    const limit = limitOf(query);
    const [ticker, ...others] = idsOf(query.get('ticker')) ?? [];
    if (limit === undefined || ticker === undefined || others.length > 0) {
      return refused(400, 'bad parameters');
    }
    const cursor = query.get('cursor') ?? '';
    const page = await source.tradesOfB({ ticker, limit, ...(cursor === '' ? {} : { cursor }) });
    return page === undefined ? NOT_FOUND : { status: 200, body: page };
  }
  const [kind, id, ...rest] = path;
  if (kind !== 'markets' || id === undefined || rest.length > 0 || !isId(id)) return NOT_FOUND;
  const market = await source.market(id);
  return market === undefined ? NOT_FOUND : { status: 200, body: { market } };
}

const MOST_IDS = 100;
const LONGEST_ID = 128;

function isId(text: string): boolean {
  return text !== '' && text.length <= LONGEST_ID;
}

function idsOf(list: string | null): readonly string[] | undefined {
  const ids = list?.split(',') ?? [];
  return ids.length >= 1 && ids.length <= MOST_IDS && ids.every(isId) ? ids : undefined;
}

const DEFAULT_LIMIT = 100;
const MOST_TRADES = 500;

function limitOf(query: URLSearchParams): number | undefined {
  const text = query.get('limit') ?? String(DEFAULT_LIMIT);
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= MOST_TRADES ? limit : undefined;
}

/** Decodes one part of a path. Returns it unchanged if its encoding is broken. */
function plainText(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  if (response.destroyed) return;
  response.statusCode = status;
  response.setHeader('content-type', 'application/json').setHeader('cache-control', 'no-store');
  response.end(JSON.stringify(body));
}
