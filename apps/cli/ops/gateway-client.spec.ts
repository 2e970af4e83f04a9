import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { CommandFault } from './arguments.js';
import { GatewayClient } from './gateway-client.js';

/** A gateway whose sessions end when a test says so. */
class FakeGateway {
  readonly ended: string[] = [];
  logins = 0;
  /** Statuses of the next logins. Without one a login succeeds. */
  readonly refusals: number[] = [];
  private good = '';
  /** Whether another server answers at the gateway's address. */
  isElsewhere = false;
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
      const [status, body] = this.answer(request.url ?? '', token);
      const id = this.isElsewhere ? 'another' : request.headers['x-request-id'];
      response.writeHead(status, { 'x-request-id': id }).end(JSON.stringify(body));
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  endSession(): void {
    this.good = 'nobody’s';
  }

  private answer(url: string, token: string): [number, object] {
    if (this.isElsewhere) return [200, { status: 'ok' }];
    if (url === '/auth/logout') {
      this.ended.push(token);
      return [204, {}];
    }
    if (url === '/auth/login') {
      this.logins += 1;
      const refusal = this.refusals.shift();
      if (refusal !== undefined) return [refusal, { error: refusal === 429 ? 'login_rate_limited' : 'away' }];
      this.good = `token-${this.logins}`;
      return [200, { access_token: this.good }];
    }
    return token === this.good ? [200, { by: token }] : [401, { error: 'unauthorized' }];
  }
}

let lobby: FakeGateway;
let url: string;

beforeEach(async () => {
  lobby = new FakeGateway();
  url = await lobby.open();
});
afterEach(() => {
  lobby.close();
});

function client(mine: boolean): GatewayClient {
  return new GatewayClient({
    url,
    stop: new AbortController().signal,
    credentials: async (gateway) => ({ token: mine ? await gateway.logIn('a', 'b') : 'given', mine }),
  });
}

function faultOf(gateway: GatewayClient): Promise<unknown> {
  return gateway.get('/x').catch((error: unknown) => error);
}

describe('an expired session', () => {
  it('is replaced by a new one, and logged out because it could still be refreshed', async () => {
    const gateway = client(true);
    expect(await gateway.get('/x')).toEqual({ by: 'token-1' });
    lobby.endSession();
    expect(await gateway.get('/x')).toEqual({ by: 'token-2' });
    await eventually(() => expect(lobby.ended).toEqual(['token-1']), 5_000);
    await gateway.close();
    expect(lobby.ended).toEqual(['token-1', 'token-2']);
  });

  it.each([503, 429, 401])('is renewed at the next request after a login failed with %i', async (status) => {
    const gateway = client(true);
    await gateway.get('/x');
    lobby.endSession();
    lobby.refusals.push(status, status);
    const faults = [await faultOf(gateway), await faultOf(gateway)];
    expect(faults).toEqual([expect.any(CommandFault), expect.any(CommandFault)]);
    expect(faults).toMatchObject([{ told: { status } }, { told: { status } }]);
    expect(await gateway.get('/x')).toEqual({ by: 'token-4' });
  });

  it('is not renewed when the token came from OPS_TOKEN', async () => {
    await expect(client(false).get('/x')).rejects.toMatchObject({ told: { status: 401 } });
    expect([lobby.logins, lobby.ended]).toEqual([0, []]);
  });
});

it.each([true, false])('rejects the answer of another server (login %s)', async (mine) => {
  lobby.isElsewhere = true;
  await expect(client(mine).get('/x')).rejects.toMatchObject({
    exitCode: 69,
    message: `${mine ? '/auth/login' : '/x'}: an answer that is not of this service`,
  });
});
