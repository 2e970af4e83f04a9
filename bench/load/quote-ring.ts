/** One maker in one auction, and the quote that it has there. */
interface Seat {
  readonly maker: number;
  readonly auctionId: string;
  quoteId: string | undefined;
  revision: number;
}

export interface RingCommand {
  /** The place of the maker among all. */
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

/** Takes a command to the service, for the caller of that number. */
export type SendQuote = (command: RingCommand, caller: number) => Promise<QuoteAnswer>;

const LOWEST_ATOMS = 300_000;
const TICK_ATOMS = 10_000;
const PRICES = 10;
const QUANTITY_ATOMS = 1_000_000;

/**
 * Makers in auctions, who quote and then revise, one after another and round again. A seat that is still waiting for its answer
 * stands aside until it has it.
 */
export class QuoteRing {
  /** Mutations that were refused, by status and code; a busy service may refuse, and nobody counts that as done. */
  readonly refusals = new Map<string, number>();
  private readonly free: Seat[];
  private readonly waiting: ((seat: Seat) => void)[] = [];
  private mutations = 0;

  constructor(
    auctions: readonly { readonly id: string; readonly makers: readonly number[] }[],
    /** Keeps idempotency keys of several rings apart. */
    private readonly name: string,
    private readonly say: SendQuote,
  ) {
    this.free = auctions.flatMap(({ id, makers }) => {
      return makers.map((maker) => ({ maker, auctionId: id, quoteId: undefined, revision: 0 }));
    });
  }

  /** One submit or revision, acknowledged; whoever is refused is heard of in `refusals`, and another has its turn. */
  async mutate(caller = 0): Promise<void> {
    for (;;) {
      const seat = await this.take();
      const { quote, status, error } = await this.say(this.commandFor(seat), caller);
      if (quote !== undefined) {
        seat.quoteId = quote.quote_id;
        seat.revision = quote.revision;
        this.give(seat);
        return;
      }
      // What became of it is not known, so the seat is left alone from here on.
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

  private take(): Promise<Seat> {
    const seat = this.free.shift();
    return seat === undefined ? new Promise((resolve) => this.waiting.push(resolve)) : Promise.resolve(seat);
  }

  private give(seat: Seat): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free.push(seat);
    else next(seat);
  }
}
