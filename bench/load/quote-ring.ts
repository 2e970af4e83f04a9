/** One maker in one auction, with its quote there. */
interface Seat {
  readonly maker: number;
  readonly auctionId: string;
  quoteId: string | undefined;
  revision: number;
}

export interface RingCommand {
  /** The index of the maker. */
  readonly maker: number;
  readonly auctionId: string;
  /** Absent in a submit. */
  readonly quoteId: string | undefined;
  readonly key: string;
  readonly terms: object;
}

export interface QuoteAnswer {
  readonly status: number;
  readonly error?: string;
  readonly quote?: { readonly quote_id: string; readonly revision: number };
}

/** Sends a command to the service, for the caller with this number. */
export type SendQuote = (command: RingCommand, caller: number) => Promise<QuoteAnswer>;

const LOWEST_ATOMS = 300_000;
const TICK_ATOMS = 10_000;
const PRICES = 10;
const QUANTITY_ATOMS = 1_000_000;

/** Makers in auctions that quote and then revise, in turn. A seat that waits for its answer is skipped. */
export class QuoteRing {
  /** Refused mutations by status and code. A busy service may refuse; refusals do not count as done. */
  readonly refusals = new Map<string, number>();
  private readonly free: Seat[];
  private readonly waiting: ((seat: Seat) => void)[] = [];
  private mutations = 0;

  constructor(
    auctions: readonly { readonly id: string; readonly makers: readonly number[] }[],
    /** Keeps idempotency keys of several rings apart. */
    private readonly name: string,
    private readonly send: SendQuote,
  ) {
    this.free = auctions.flatMap(({ id, makers }) => {
      return makers.map((maker) => ({ maker, auctionId: id, quoteId: undefined, revision: 0 }));
    });
  }

  /** One acknowledged submit or revision. A refusal is counted in `refusals`, and the next seat tries. */
  async mutate(caller = 0): Promise<void> {
    for (;;) {
      const seat = await this.nextSeat();
      const { quote, status, error } = await this.send(this.commandFor(seat), caller);
      if (quote !== undefined) {
        seat.quoteId = quote.quote_id;
        seat.revision = quote.revision;
        this.putBack(seat);
        return;
      }
      // Whether it was carried out is unknown, so the seat is not used again.
      const refusal = `${status} ${error ?? ''}`;
      this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1);
    }
  }

  private commandFor({ maker, auctionId, quoteId, revision }: Seat): RingCommand {
    this.mutations += 1;
    const price = { price_atoms: LOWEST_ATOMS + TICK_ATOMS * (this.mutations % PRICES) };
    const terms =
      quoteId === undefined
        ? { ...price, quantity_atoms: QUANTITY_ATOMS }
        : { ...price, expected_revision: revision };
    return { maker, auctionId, quoteId, terms, key: `${this.name}-${this.mutations}` };
  }

  private nextSeat(): Promise<Seat> {
    const seat = this.free.shift();
    return seat === undefined ? new Promise((resolve) => this.waiting.push(resolve)) : Promise.resolve(seat);
  }

  private putBack(seat: Seat): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free.push(seat);
    else next(seat);
  }
}
