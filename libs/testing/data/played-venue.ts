import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a venue handles a request. */
export type VenueManner = (request: IncomingMessage, response: ServerResponse) => void;

/** A venue's server whose behaviour the test sets. */
export interface PlayedVenue {
  readonly url: string;
  /** The targets of all requests, in order. */
  readonly asked: string[];
  behave(manner: VenueManner): void;
  close(): Promise<void>;
}

export function answers(body: unknown, status = 200, headers: Record<string, string> = {}): VenueManner {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
}

/** Each of these was observed at a real venue. */
export const MISBEHAVIOURS: Readonly<Record<string, VenueManner>> = {
  'never answers': () => undefined,
  'hangs in the middle of its answer': (_request, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('[{');
  },
  'breaks off in the middle of its answer': (_request, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('[', () => response.destroy());
  },
  'closes the connection': (request) => {
    request.socket.destroy();
  },
  'answers 500': answers({ error: 'oops' }, 500),
  'answers 503 with a page': answers('<html>away</html>', 503),
  'sends elsewhere': answers('', 302, { location: '/elsewhere' }),
  'answers nothing': answers('', 204),
  'answers with a page': answers('<html>hello</html>'),
  'answers with half a text': answers('[{"price": 0.5'),
  'answers with null': answers('null'),
  'answers with what is no text': answers(Buffer.from([0x5b, 0xff, 0xfe, 0x5d])),
  'answers with more than anybody wants': answers(`[${' '.repeat(9 * 1024 * 1024)}]`),
  'speaks another protocol': (request) => {
    request.socket.end('SSH-2.0-OpenSSH\r\n\r\n');
  },
};

export async function openPlayedVenue(): Promise<PlayedVenue> {
  const asked: string[] = [];
  let behaves: VenueManner = answers({}, 404);
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    behaves(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    asked,
    behave: (manner) => {
      behaves = manner;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
