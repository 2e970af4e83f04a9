import type { PlacedEvent, RawQuote } from '../raw-events.js';
import type { Shown } from './shown.js';

interface Standing {
  readonly terms: RawQuote;
  readonly status: string;
  readonly updatedAt: string;
  readonly withdrawnBy?: string;
  readonly result?: Shown;
}

/** The states of a quote since its submission, as its maker may see them. */
export class QuoteCourse {
  /** One entry for each journal record that changed it. */
  readonly past: { readonly sequence: number; readonly shown: Shown }[] = [];
  private now: Standing;

  constructor(
    private readonly auctionId: string,
    terms: RawQuote,
    { sequence, event: { at } }: PlacedEvent,
  ) {
    this.now = { terms, status: 'ACTIVE', updatedAt: at };
    this.note(sequence);
  }

  get maker(): string {
    return this.now.terms.maker;
  }

  get isActive(): boolean {
    return this.now.status === 'ACTIVE';
  }

  change({ sequence, event: { at } }: PlacedEvent, change: Partial<Standing>): void {
    this.now = { ...this.now, updatedAt: at, ...change };
    this.note(sequence);
  }

  get shown(): Shown {
    const { terms, status, updatedAt, withdrawnBy, result } = this.now;
    return {
      quote_id: terms.quote_id,
      auction_id: this.auctionId,
      revision: terms.revision,
      status,
      price_atoms: terms.price_atoms,
      quantity_atoms: terms.quantity_atoms,
      min_quantity_atoms: terms.min_quantity_atoms,
      expires_at: terms.expires_at,
      client_reference: terms.client_reference,
      submitted_at: terms.submitted_at,
      updated_at: updatedAt,
      withdrawn_by: withdrawnBy,
      result,
    };
  }

  private note(sequence: number): void {
    this.past.push({ sequence, shown: this.shown });
  }
}
