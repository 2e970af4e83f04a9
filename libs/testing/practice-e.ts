import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExchangeClient, HttpTransport, InfoClient } from '@nktkas/hyperliquid';
import { privateKeyToAccount } from 'viem/accounts';
import { openAdminServer } from '#libs/practice/admin/admin-server.js';
import { AdminSurface } from '#libs/practice/admin/admin-surface.js';
import { openVenue, type OpenVenue } from '#libs/practice/open-venue.js';
import { VENUE_KINDS } from '#libs/practice/venues/venue-kinds.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';

/** The published client of the venue: the account's own key, and an agent that trades for it. */
export interface EClient {
  readonly address: `0x${string}`;
  readonly owner: ExchangeClient;
  readonly trader: ExchangeClient;
}

export interface PracticeE {
  readonly open: OpenVenue;
  readonly url: string;
  readonly adminPort: number;
  readonly info: InfoClient;
  /** The reply of the admin surface. */
  call(method: string, at: string, body?: object): Promise<unknown>;
  /** An account with an agent, and with money by default. */
  account(dollars?: string): Promise<EClient>;
  market(more?: object): Promise<number>;
  close(): Promise<void>;
}

export async function openPracticeE(folder?: string): Promise<PracticeE> {
  const kind = VENUE_KINDS.venue_e;
  const data = folder ?? (await mkdtemp(path.join(tmpdir(), 'sotto-practice-')));
  const fail = (error: unknown): never => {
    throw error;
  };
  const open = await openVenue({
    ...{ exchange_id: 'venue_e', kind, port: 0, folder: data, seed: 1, isStill: true },
    ...{ clock: new SystemClock(), newId: randomUUID, onLost: fail, onFault: fail },
  });
  const admin = await openAdminServer(new AdminSurface([open]), 0, fail);
  const url = `http://127.0.0.1:${open.port}`;
  const transport = new HttpTransport({ apiUrl: url });
  const call: PracticeE['call'] = async (method, at, body) => {
    const reply = await fetch(`http://127.0.0.1:${admin.port}${at}`, {
      ...{ method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
    });
    const text = await reply.text();
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };
  return {
    ...{ open, url, adminPort: admin.port, info: new InfoClient({ transport }), call },
    account: async (dollars = '1000') => {
      const [wallet, agent] = [newWallet(), newWallet()];
      const owner = new ExchangeClient({ transport, wallet, signatureChainId: '0x66eee' });
      await owner.approveAgent({ agentAddress: agent.address, agentName: '' });
      if (dollars !== '0') {
        await call('POST', '/faucet', { exchange_id: 'venue_e', account: wallet.address, amount: dollars });
      }
      return { address: wallet.address, owner, trader: new ExchangeClient({ transport, wallet: agent }) };
    },
    market: async (more = {}) => {
      const body = await call('POST', '/markets', { exchange_id: 'venue_e', ...more });
      return Number((body as { readonly market_id: string }).market_id);
    },
    close: async () => {
      await admin.close();
      await open.close();
    },
  };
}

function newWallet(): ReturnType<typeof privateKeyToAccount> {
  return privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`);
}
