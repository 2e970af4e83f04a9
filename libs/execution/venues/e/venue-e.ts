import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import type { Signer } from '../../protocol/signer-protocol.js';
import { goodAnswer, reasonOf } from '../answers.js';
import { CredentialsRefused, type Credentials } from '../credentials.js';
import { VenueHttp } from '../http-exchange.js';
import { VenueUnavailable, type Venue, type VenueAccount } from '../port.js';
import { VenueEAccount } from './account.js';
import { VenueEMarkets } from './markets.js';
import { SIGNED_FOR, VenueEMoney } from './money.js';
import { VenueERequests } from './requests.js';
import { agents, exchangeReply } from './shapes.js';

export interface VenueEParts {
  readonly settings: { readonly url: string };
  readonly signer: Signer;
  readonly clock: Clock;
  readonly onFault?: (error: unknown) => void;
}

const VISIBILITY_MILLIS = 1_000;

/**
 * Hyperliquid's protocol: outcome markets, accounts that are addresses, orders signed by an agent. Checked against
 * the published client (0.33.3), except what is not published: `outcomeSettlement`, description fields other than
 * `expiry`, texts for expired actions and halts, and the status of a partly filled order.
 */
export class VenueE implements Venue {
  readonly id = 'venue_e';
  readonly visibilityMillis = VISIBILITY_MILLIS;
  readonly markets: VenueEMarkets;
  private readonly http: VenueHttp;
  private readonly requests: VenueERequests;
  private readonly listeners = new Map<string, Set<() => void>>();

  constructor(private readonly parts: VenueEParts) {
    const { settings, signer, clock } = parts;
    this.http = new VenueHttp(clock);
    this.requests = new VenueERequests(settings.url, this.http, signer, clock);
    this.markets = new VenueEMarkets(this.requests);
  }

  account(user_id: string, account: string): VenueAccount {
    const { requests, markets } = this;
    const { signer, clock, onFault = () => undefined } = this.parts;
    const money = new VenueEMoney({ requests, markets, signer, user_id, account });
    const feed = {
      ...{ clock, onFault },
      wake: (name: string) => {
        for (const listener of this.listeners.get(name) ?? []) listener();
      },
      onWake: (name: string, listener: () => void) => this.onWake(name, listener),
    };
    return new VenueEAccount({ user_id, account }, { requests, markets, money, feed });
  }

  /** Only the signer makes keys. The account's own key authorizes the agent that signs orders. */
  async open(user_id: string, credentials?: Credentials): Promise<string> {
    if (credentials !== undefined) throw new CredentialsRefused('keys are not brought to this venue');
    const { account, agent } = await this.parts.signer.createKey(user_id, 'venue_e');
    if (agent === undefined) throw new VenueUnavailable('the signer has made no agent');
    const authorized = await this.requests.read({ type: 'extraAgents', user: account }, agents);
    if (authorized.some(({ address }) => address.toLowerCase() === agent)) return account;
    const nonce = this.requests.nextNonce();
    const action = { type: 'approveAgent', ...SIGNED_FOR, agentAddress: agent, agentName: '', nonce };
    const { outcome } = await this.requests.act({
      ...{ user_id, by: 'account', action, nonce, operation: 'submit' },
    });
    if (outcome.what !== 'answered') throw new VenueUnavailable(reasonOf(outcome).reason);
    const reply = goodAnswer(outcome, exchangeReply);
    if (reply?.status !== 'ok') throw new VenueUnavailable('the venue has not authorized the agent');
    return account;
  }

  close(): void {
    this.http.close();
  }

  private onWake(name: string, listener: () => void): Cancel {
    const listeners = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.listeners.delete(name);
    };
  }
}
