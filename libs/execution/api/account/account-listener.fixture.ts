import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { EdgeListener } from '#libs/edge/server/edge-listener.js';
import type { KeyGateway } from '#libs/identity/api-keys/api-keys.fixture.js';
import { LinkClient } from '#libs/link/link-client.js';
import { LinkServer } from '#libs/link/link-server.js';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import type { CellRequest } from '../../protocol/cell-protocol.js';
import { Cells } from '../cells.js';
import { executionDialect } from '../dialect.js';
import { CredentialsController } from './credentials.controller.js';
import { ApiKeysController } from './api-keys.controller.js';
import { Reauthentication } from './reauthentication.js';
import { VenueLinks } from './venue-links.js';

type Asked = Exclude<CellRequest, { readonly op: 'claim' }>;

export interface AccountListener {
  readonly port: number;
  /** The requests to the cell, in order. */
  readonly asked: readonly Asked[];
  /** Whether the link to the cell is connected. */
  isConnected(): boolean;
  /** Errors thrown in the edge. */
  readonly faults: readonly unknown[];
  close(): Promise<void>;
}

const TOKEN = 'a-service-token';

/** The account routes of the service, and a fake cell that answers what the test wants. */
export async function openAccountListener(
  gateway: KeyGateway,
  cell: (request: Asked) => LinkReply,
): Promise<AccountListener> {
  const asked: Asked[] = [];
  const faults: unknown[] = [];
  const clock = new SystemClock();
  const server = createServer();
  new LinkServer<Asked>({
    serviceTokens: () => [TOKEN],
    handle: (request) => {
      asked.push(request);
      return Promise.resolve(cell(request));
    },
    onFault: (error) => faults.push(error),
    clock,
  }).attach(server);
  await listen(server, 0, '127.0.0.1');
  const link = new LinkClient<CellRequest>({
    url: `http://127.0.0.1:${portOf(server)}`,
    serviceToken: () => TOKEN,
    peer: 'execution-test',
    clock,
  });
  const cells = new Cells([link]);
  const listener = new EdgeListener({
    dialect: executionDialect(gateway.authenticator),
    authenticator: { authenticate: () => 'unauthorized' },
    clock,
    newRequestId: randomUUID,
    onFault: (error) => faults.push(error),
  });
  const { service, throttle, access } = gateway.keys;
  const venues = { ids: ['venue_b', 'venue_e'] as const };
  const links = new VenueLinks(cells, clock);
  listener.mount([
    new CredentialsController({ cells, venues, access, links, clock }),
    new ApiKeysController(service, new Reauthentication(gateway.identity.logins, throttle)),
  ]);
  await listener.listen(0, '127.0.0.1');
  return {
    port: portOf(listener.server),
    asked,
    faults,
    isConnected: () => link.connected,
    async close() {
      await listener.close();
      link.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  return address.port;
}
