import { z } from 'zod';
import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { VAULT_USER, type Signer } from '../../protocol/signer-protocol.js';
import { parsedJson, VenueHttp } from '../http-exchange.js';
import { VenueUnavailable, type Venue, type VenueAccount } from '../port.js';
import { CredentialsRefused, type Credentials } from '../credentials.js';
import { VenueBAccount } from './account.js';
import { VenueBFeed } from './feed.js';
import { VenueBMarkets } from './markets.js';
import { Transfers } from './transfers.js';
import { VenueBRequests } from './requests.js';
import { trialHeaders } from './signing.js';

export interface VenueBSettings {
  /** With `/trade-api/v2`. */
  readonly url: string;
  readonly ws_url?: string | undefined;
  /** Where accounts are opened. The real venue cannot open accounts by request. */
  readonly accounts_url?: string | undefined;
}

export interface VenueBParts {
  readonly settings: VenueBSettings;
  readonly signer: Signer;
  readonly clock: Clock;
}

const VISIBILITY_MILLIS = 1_000;
const REFUSED: ReadonlySet<number> = new Set([401, 403]);
const CREATED = 201;
const accountReply = z.object({ account: z.string().min(1) });
const opened = z.object({
  account: z.string().min(1),
  key_id: z.string().min(1),
  private_key_pem: z.string().min(1),
});

/** A venue with version 2 of the trade API: one Yes book per market, accounts with keys, two shards of collateral. */
export class VenueB implements Venue {
  readonly id = 'venue_b';
  readonly visibilityMillis = VISIBILITY_MILLIS;
  readonly markets: VenueBMarkets;
  private readonly http: VenueHttp;
  private readonly requests: VenueBRequests;
  private readonly feed: VenueBFeed;

  constructor(private readonly parts: VenueBParts) {
    const { settings, signer, clock } = parts;
    this.http = new VenueHttp(clock);
    this.requests = new VenueBRequests(settings.url, this.http, signer, clock);
    this.markets = new VenueBMarkets(this.requests);
    const url = settings.ws_url ?? socketAddress(settings.url);
    this.feed = new VenueBFeed({ url, signer, clock });
  }

  account(user_id: string, account: string): VenueAccount {
    const { requests, markets, feed } = this;
    const transfers = new Transfers({ requests, signer: this.parts.signer, user_id, account });
    return new VenueBAccount(
      { user_id, account },
      { requests, markets, feed, transfers, clock: this.parts.clock },
    );
  }

  async open(
    user_id: string,
    credentials?: Credentials,
    take?: (account: string) => Promise<boolean>,
  ): Promise<string> {
    if (credentials !== undefined) return this.takeOver(user_id, credentials, take);
    const known = await this.parts.signer.accountOf(user_id, 'venue_b');
    if (known !== undefined && known.account !== '') return known.account;
    const { account, ...key } = await this.openAccount(user_id === VAULT_USER ? 'vault' : undefined);
    await this.parts.signer.storeKey(user_id, { account, ...key });
    return account;
  }

  private async takeOver(
    user_id: string,
    credentials: Credentials,
    take?: (account: string) => Promise<boolean>,
  ): Promise<string> {
    // If the venue does not name the account of a key, the key id names it.
    const named = (await this.tryOut(credentials)) ?? credentials.key_id;
    if (take !== undefined && !(await take(named)))
      throw new CredentialsRefused(
        'they are of another account, and orders, shares or transfers are in the one that is linked',
      );
    const { account } = await this.parts.signer.storeKey(user_id, { account: named, ...credentials });
    return account;
  }

  /** Returns the account of the key, if the venue names it. */
  private async tryOut(credentials: Credentials): Promise<string | undefined> {
    const url = new URL(`${this.parts.settings.url.replace(/\/$/, '')}/portfolio/balance`);
    const timestamp_ms = (this.parts.clock.epochNanos() / NANOS_PER_MILLI).toString();
    const headers = trialHeaders(credentials, { timestamp_ms, method: 'GET', path: url.pathname });
    const { outcome } = await this.http.exchange({ method: 'GET', url, headers });
    if (outcome.what !== 'answered') throw new VenueUnavailable(outcome.reason);
    if (REFUSED.has(outcome.status)) throw new CredentialsRefused('the venue refuses these credentials');
    if (outcome.status !== 200) throw new VenueUnavailable(`the venue answered with ${outcome.status}`);
    return accountReply.safeParse(parsedJson(outcome.body)).data?.account;
  }

  private async openAccount(account: string | undefined): Promise<z.infer<typeof opened>> {
    const { accounts_url: base } = this.parts.settings;
    if (base === undefined) throw new VenueUnavailable('accounts are not opened at this venue');
    const { outcome } = await this.http.exchange({
      method: 'POST',
      url: new URL(`${base.replace(/\/$/, '')}/accounts`),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ exchange_id: 'venue_b', account }),
    });
    if (outcome.what !== 'answered') throw new VenueUnavailable(outcome.reason);
    const read = opened.safeParse(parsedJson(outcome.body));
    if (outcome.status !== CREATED || !read.success) throw new VenueUnavailable('no account was opened');
    return read.data;
  }

  close(): void {
    this.http.close();
  }
}

function socketAddress(url: string): string {
  const address = new URL('/trade-api/ws/v2', url);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  return address.href;
}
