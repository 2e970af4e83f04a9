import { SignerFailure, VAULT_USER, type Signer } from '../protocol/signer-protocol.js';
import type { OrderFailure } from '../rules/order.js';
import type { VenueId } from '../rules/venues.js';
import type { Venue, VenueAccount } from '../venues/port.js';

/** The user has no usable account at the venue. Nothing was sent. */
export class NoAccount extends Error {
  override readonly name = 'NoAccount';

  constructor(readonly failure: OrderFailure) {
    super(failure.message ?? failure.code);
  }
}

/** Users' accounts at the venues. An account exists if the signer has a key for it. */
export class LinkedAccounts {
  private readonly known = new Map<string, VenueAccount>();

  constructor(
    private readonly venues: ReadonlyMap<VenueId, Venue>,
    private readonly signer: Pick<Signer, 'accountOf'>,
  ) {}

  venue(id: VenueId): Venue {
    const venue = this.venues.get(id);
    if (venue === undefined)
      throw new NoAccount({ code: 'EXCHANGE_UNAVAILABLE', message: `${id} is not open` });
    return venue;
  }

  /** Fails if the signer's key is for another account than the linked one: a link may be under way, or have broken off. */
  async of(user_id: string, venue: VenueId, linked?: string): Promise<VenueAccount> {
    const key = `${venue}/${user_id}`;
    const known = this.known.get(key);
    if (known !== undefined && (linked === undefined || known.account === linked)) return known;
    const opened = this.venue(venue).account(user_id, await this.named(user_id, venue));
    if (linked !== undefined && opened.account !== linked) throw notLinked();
    this.known.set(key, opened);
    return opened;
  }

  async has(user_id: string, venue: VenueId): Promise<boolean> {
    const found = await this.signer.accountOf(user_id, venue);
    return found !== undefined && found.account !== '';
  }

  vault(venue: VenueId): Promise<VenueAccount> {
    return this.of(VAULT_USER, venue);
  }

  /** Called before a transfer to or from the vault. At a real venue the vault may have no account. */
  async needVault(venue: VenueId): Promise<void> {
    if (await this.has(VAULT_USER, venue)) return;
    throw new NoAccount({ code: 'VENUE_REJECTED', message: `the vault has no account at ${venue}` });
  }

  /** Called when other credentials have replaced the known ones. */
  forget(user_id: string, venue: VenueId): void {
    this.known.delete(`${venue}/${user_id}`);
  }

  private async named(user_id: string, venue: VenueId): Promise<string> {
    try {
      const found = await this.signer.accountOf(user_id, venue);
      if (found !== undefined && found.account !== '') return found.account;
    } catch (error) {
      if (!(error instanceof SignerFailure) || error.code === 'NOT_LINKED') throw notLinked();
      throw new NoAccount({ code: error.code, message: error.message });
    }
    throw notLinked();
  }
}

function notLinked(): NoAccount {
  return new NoAccount({ code: 'EXCHANGE_NOT_LINKED', message: 'no key is kept for the linked account' });
}
