import { createHash } from 'node:crypto';
import { decideClose } from '#libs/auction/rules/decide/close.js';
import type { ContractFacts } from '#libs/auction/rules/commands.js';
import type { AuctionEvent, AuctionEventBody, CommandMark, Operation } from '#libs/auction/rules/events.js';
import { evolve } from '#libs/auction/rules/evolve/evolve.js';
import { decideExecution } from '#libs/auction/rules/decide/execution.js';
import { holdFor } from '#libs/auction/rules/holds.js';
import { plusMillis, type Instant } from '#libs/base/instant.js';
import { opened, planCreate } from '#libs/auction/rules/decide/plan-create.js';
import { planRevise, revised } from '#libs/auction/rules/decide/plan-revise.js';
import { planSubmit, submitted } from '#libs/auction/rules/decide/plan-submit.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import { versionOf } from '#libs/auction/rules/event-versions.js';

export interface HistoryOf {
  readonly number: number;
  readonly shard: number;
  /** How many of the invited makers quote. */
  readonly quotes: number;
  /** Revisions of each quote. */
  readonly revisions: number;
  readonly isOver: boolean;
}

const BEGIN = '2026-11-20T12:00:00.000000000Z';
const DURATION_MS = 60_000;
const CONTRACT_ATOMS = 1_000_000;
const INVITED = 8;
const MAKERS = 512;
const ORIGINATORS = 64;
const CONTENT = 'x'.repeat(22);
const NO_TOKENS = (): number => 0;

const contract: ContractFacts = {
  venue: 'venue_a',
  contract_id: 'a-rate-cut-june',
  outcome: 'YES',
  title: 'Central bank cuts rates in June',
  equivalence_id: 'rate-cut-june',
  price_tick_atoms: 10_000,
  quantity_step_atoms: 10_000,
  status: 'TRADING',
  closes_at: '2027-11-20T12:00:00.000000000Z',
};

/** All events of one auction, as the rules decide them. Equal numbers give equal histories. */
export function auctionHistory(spec: HistoryOf): AuctionEvent[] {
  return new History(spec).play();
}

class History {
  private readonly events: AuctionEvent[] = [];
  private readonly auctionId: string;
  private readonly makers: readonly string[];
  private state: AuctionState | undefined;

  constructor(private readonly spec: HistoryOf) {
    const { number, shard, quotes } = spec;
    this.auctionId = idOf(`auction ${number}`, shard);
    const invited = Math.max(INVITED, quotes);
    this.makers = Array.from({ length: invited }, (_, place) => {
      return idOf(`maker ${(number * invited + place) % MAKERS}`);
    });
  }

  play(): AuctionEvent[] {
    this.open();
    const at = plusMillis(BEGIN, 1);
    for (const maker of this.makers.slice(0, this.spec.quotes)) this.quote(maker, at);
    if (this.spec.isOver) this.close();
    return this.events;
  }

  private open(): void {
    const { number } = this.spec;
    const originator = idOf(`originator ${number % ORIGINATORS}`);
    const { venue, contract_id, outcome } = contract;
    const plan = planCreate(
      {
        side: 'BUY',
        quantity_atoms: CONTRACT_ATOMS,
        routes: [{ venue, contract_id, outcome }],
        limit_price_atoms: 600_000,
        duration_ms: DURATION_MS,
        audience: { market_maker_ids: this.makers },
      },
      {
        auction_id: this.auctionId,
        originator: partyOf(originator),
        now: BEGIN,
        contracts: [contract],
        audience: { ok: true, makers: this.makers.map(partyOf) },
        policy: undefined,
      },
    );
    if (!plan.ok) throw new Error(plan.message);
    const hold = holdFor(plan.need, NO_TOKENS);
    for (const body of opened(plan.terms, hold)) this.write(BEGIN, body, this.mark('CREATE', originator));
  }

  private quote(maker: string, at: Instant): void {
    const facts = { maker, now: at, policy: undefined };
    const quoteId = idOf(`quote of ${maker} in ${this.auctionId}`, this.spec.shard);
    const terms = { price_atoms: 500_000, quantity_atoms: CONTRACT_ATOMS };
    const plan = planSubmit(this.known, terms, { ...facts, quote_id: quoteId });
    if (!plan.ok) throw new Error(plan.message);
    this.write(at, submitted(plan.quote, holdFor(plan.need, NO_TOKENS)), this.mark('SUBMIT', maker));
    for (let revision = 1; revision <= this.spec.revisions; revision += 1) {
      const body = { expected_revision: revision, price_atoms: 500_000 - 10_000 * (revision % 10) };
      const next = planRevise(this.known, quoteId, body, facts);
      if (!next.ok) throw new Error(next.message);
      this.write(at, revised(next, holdFor(next.need, NO_TOKENS)), this.mark('REVISE', maker));
    }
  }

  private close(): void {
    const awardId = (quoteId: string): string => idOf(`award of ${quoteId}`, this.spec.shard);
    for (const { at, body } of decideClose(this.known, { awardId })) this.write(at, body);
    const now = plusMillis(BEGIN, DURATION_MS + 1);
    for (const { award_id } of this.known.awards) {
      for (const step of ['SUBMITTED', 'CONFIRMED'] as const) {
        const decision = decideExecution(this.known, { award_id, step, attempt: 1 }, { now });
        if (!decision.ok) throw new Error(decision.message);
        for (const { at, body } of decision.events) this.write(at, body);
      }
    }
  }

  private get known(): AuctionState {
    if (this.state === undefined) throw new Error('the auction has not opened');
    return this.state;
  }

  private mark(operation: Operation, account: string): CommandMark {
    const key = idOf(`key ${this.events.length} in ${this.auctionId}`);
    return { account_id: account, operation, key, content: CONTENT };
  }

  private write(at: Instant, body: AuctionEventBody, command?: CommandMark): void {
    const event = {
      ...body,
      version: versionOf(body.type),
      at,
      ...(command === undefined ? {} : { request_id: command.key, command }),
      auction_id: this.auctionId,
    } as AuctionEvent;
    this.events.push(event);
    this.state = evolve(this.state, { position: this.events.length, event });
  }
}

function partyOf(account: string) {
  return {
    account_id: account,
    display_name: `Trader ${account.slice(0, 4)}`,
    alias: `MM-${account.slice(0, 8)}`,
  };
}

function idOf(name: string, shard?: number): string {
  const hex = createHash('sha256').update(name).digest('hex');
  const first = shard === undefined ? hex.charAt(0) : String(shard);
  return `${first}${hex.slice(1, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
