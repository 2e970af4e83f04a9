import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Check } from '#libs/edge/checks/check.js';
import { contentType, size } from '#libs/edge/checks/content.js';
import { framing } from '#libs/edge/checks/head.js';
import { body, ids, query } from '#libs/edge/checks/parts.js';
import { method, path, permission, route } from '#libs/edge/checks/route.js';
import type { Dialect } from '#libs/edge/dialect/dialect.js';
import type { Caller } from '#libs/edge/endpoint.js';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import { EdgeListener } from '#libs/edge/server/edge-listener.js';
import type { KeyGateway } from '#libs/identity/api-keys/api-keys.fixture.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import type { TraderRequest } from '../../protocol/cell-protocol.js';
import { AccountController } from './account.controller.js';
import type { AccountCall } from './account-ports.js';
import { ApiKeysController } from './api-keys.controller.js';
import { Reauthentication } from './reauthentication.js';

export interface AccountListener {
  readonly url: string;
  /** What the cell was asked, in order. */
  readonly asked: readonly TraderRequest[];
  /** What was thrown at the edge. */
  readonly faults: readonly unknown[];
  close(): Promise<void>;
}

export type Cell = (request: TraderRequest) => LinkReply;

/** The account routes behind a real listener that knows callers by keys and sessions, and nothing else of the service's dialect. */
export async function openAccountListener(gateway: KeyGateway, cell: Cell): Promise<AccountListener> {
  const calls = new WeakMap<Caller, AccountCall>();
  const asked: TraderRequest[] = [];
  const faults: unknown[] = [];
  const clock = new SystemClock();
  const listener = new EdgeListener({
    dialect: dialectOf(credentialsOf(gateway, calls)),
    authenticator: { authenticate: () => 'unauthorized' },
    clock,
    newRequestId: randomUUID,
    onFault: (error) => faults.push(error),
  });
  const ports = {
    callOf: ({ principal }: { readonly principal: Caller | undefined }) => {
      const call = principal === undefined ? undefined : calls.get(principal);
      if (call === undefined) throw new Error('a call without a caller');
      return call;
    },
    refuse: (status: number, { code }: { readonly code: string }) => errorReply(status, code),
    askCell: (request: TraderRequest) => {
      asked.push(request);
      return Promise.resolve(cell(request));
    },
    access: gateway.keys.access,
    venues: ['venue_b', 'venue_e'] as const,
    clock,
  };
  const { service, throttle } = gateway.keys;
  const reauthentication = new Reauthentication(gateway.identity.logins, throttle);
  listener.mount([new AccountController(ports), new ApiKeysController(ports, service, reauthentication)]);
  await listener.listen(0, '127.0.0.1');
  const { port } = listener.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, faults, close: () => listener.close() };
}

/** A test may say from which address it calls, so that its failures count for nobody else. */
export const PEER_OF_TEST = 'x-test-peer';

function credentialsOf(gateway: KeyGateway, calls: WeakMap<Caller, AccountCall>): Check {
  return {
    name: 'credentials',
    after: ['route'],
    async run(inspection) {
      const { headers } = inspection.request;
      const peer = String(headers[PEER_OF_TEST]);
      const parts = { headers, peer, wrongTriple: 401 as const, takesCookie: true };
      const outcome = await gateway.authenticator.authenticate(parts);
      if (!outcome.ok) return { kind: 'unauthorized', code: String(outcome.refusal.status) };
      const { user_id, roles } = outcome.caller;
      inspection.principal = { account_id: user_id, roles, capabilities: new Set() };
      const reauth = headers['x-reauth'];
      calls.set(inspection.principal, {
        caller: outcome.caller,
        reauth: typeof reauth === 'string' ? reauth : undefined,
        peer,
      });
      return undefined;
    },
  };
}

function dialectOf(credentials: Check): Dialect {
  return {
    checks: [framing, route, credentials, path, method, permission, query, ids, contentType, size, body],
    internalHeaders: [],
    body: {
      ...{ numbers: 'raw', nulls: 'absent', maxDepth: 64, maxBytes: 262_144 },
      ...{ unknownFields: 'refused', absent: 'empty-object' },
    },
    unknownParameters: 'ignored',
    requestId: { header: 'x-request-id', pattern: /^[\w-]{1,64}$/ },
    replyHeaders: {},
    refuse: ({ kind, code, location }) => ({
      status: Number(code ?? (kind === 'not-found' ? 404 : 400)),
      body: { error: kind, field: location?.path.join('.') },
    }),
    rateLimitHeaders: () => ({}),
    codeOf: () => undefined,
  };
}
