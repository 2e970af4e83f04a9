import fc from 'fast-check';
import type { CreateBody } from '#libs/auction/rules/commands.js';
import type { ExecutionReport } from '#libs/auction/rules/decide/execution.js';
import type { Atoms } from '#libs/base/money.js';
import { at } from './builders.js';

/** Two routes of one venue and one of another. All of them settle alike, under different names. */
export const SESSION_ROUTES = [
  { venue: 'venue_a', contract_id: 'rain', outcome: 'YES' },
  { venue: 'venue_a', contract_id: 'wet', outcome: 'YES' },
  { venue: 'venue_b', contract_id: 'storm', outcome: 'NO' },
] as const;
export const SESSION_MAKERS = ['mia', 'max', 'moe', 'may'] as const;
export const SESSION_MILLIS = 60_000;

/** Outcome tokens of a party, one number for each of the routes. */
export type Inventory = readonly Atoms[];

export interface SessionGrid {
  readonly tick: Atoms;
  readonly step: Atoms;
}

/** A command that a party tries. Whether it is accepted depends on the state at that time. */
export interface SessionMove {
  /** Milliseconds since the move before. */
  readonly after: number;
  readonly act: 'SUBMIT' | 'REVISE' | 'WITHDRAW' | 'CANCEL' | 'VOID' | 'NOTHING';
  readonly maker: number;
  /** How many ticks above or below the middle of the grid. */
  readonly price: number;
  /** In steps. */
  readonly quantity: number;
  readonly minimum: number | undefined;
  readonly expiresIn: number | undefined;
  readonly expectsLatest: boolean;
  /** Whether the owner first does what is due. It always should, but the rules do not depend on that. */
  readonly punctual: boolean;
  /** Positions that other auctions take in between. */
  readonly gap: number;
}

export interface SessionReport {
  readonly after: number;
  readonly award: number;
  readonly step: ExecutionReport['step'];
  readonly attempt: number;
  readonly gap: number;
}

export interface PlannedSession {
  readonly grid: SessionGrid;
  readonly create: CreateBody;
  readonly inventory: Inventory;
  readonly inventories: readonly Inventory[];
  readonly moves: readonly SessionMove[];
  readonly reports: readonly SessionReport[];
}

/** Where tick times step is not a whole atom, the cost of a fill is rounded: the second, third and fourth of these. */
const grids: readonly SessionGrid[] = [
  { tick: 1_000, step: 1_000_000 },
  { tick: 1, step: 1 },
  { tick: 7, step: 30_011 },
  { tick: 1_000, step: 999 },
  { tick: 250_000, step: 500_000 },
];

const gap = fc.integer({ min: 1, max: 4 });

/** Undefined four times out of five. */
function seldom<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ arbitrary: fc.constant(undefined), weight: 4 }, { arbitrary: value, weight: 1 });
}

export const anyMove: fc.Arbitrary<SessionMove> = fc.record({
  after: fc.oneof(
    { arbitrary: fc.integer({ min: 0, max: 2_000 }), weight: 12 },
    { arbitrary: fc.integer({ min: 0, max: SESSION_MILLIS }), weight: 1 },
  ),
  act: fc.oneof(
    { arbitrary: fc.constant('SUBMIT' as const), weight: 10 },
    { arbitrary: fc.constant('REVISE' as const), weight: 6 },
    { arbitrary: fc.constant('WITHDRAW' as const), weight: 2 },
    { arbitrary: fc.constant('NOTHING' as const), weight: 1 },
    { arbitrary: fc.constantFrom('CANCEL' as const, 'VOID' as const), weight: 1 },
  ),
  maker: fc.nat({ max: SESSION_MAKERS.length - 1 }),
  price: fc.integer({ min: -3, max: 3 }),
  quantity: fc.integer({ min: 0, max: 9 }),
  minimum: seldom(fc.integer({ min: 0, max: 4 })),
  expiresIn: seldom(fc.integer({ min: -1, max: 70_000 })),
  expectsLatest: fc.nat({ max: 5 }).map((luck) => luck > 0),
  punctual: fc.boolean(),
  gap,
});

const anyReport: fc.Arbitrary<SessionReport> = fc.record({
  after: fc.nat({ max: 5_000 }),
  award: fc.nat({ max: 3 }),
  step: fc.constantFrom('SUBMITTED', 'RETRYING', 'CONFIRMED', 'FAILED'),
  attempt: fc.integer({ min: 1, max: 4 }),
  gap,
});

function anyCreate({ tick, step }: SessionGrid): fc.Arbitrary<CreateBody> {
  const allocation = fc.constantFrom('SPLIT' as const, 'SPLIT' as const, 'SINGLE_WINNER' as const);
  return fc
    .record({
      side: fc.constantFrom('BUY' as const, 'SELL' as const),
      steps: fc.integer({ min: 2, max: 8 }),
      fill: fc.integer({ min: 1, max: 8 }),
      limit: fc.option(fc.integer({ min: -2, max: 3 }), { nil: undefined }),
      allocation,
      winners: fc.integer({ min: 2, max: 4 }),
      policy: fc.constantFrom('FREE' as const, 'FREE' as const, 'IMPROVE_ONLY' as const, 'FINAL' as const),
      routes: fc.subarray([...SESSION_ROUTES], { minLength: 1 }),
    })
    .map(({ steps, fill, limit, winners, policy, ...rest }) => ({
      ...rest,
      quantity_atoms: steps * step,
      min_fill_quantity_atoms: Math.min(fill, steps) * step,
      ...(limit === undefined ? {} : { limit_price_atoms: onGrid(tick, priceAt({ tick, step }, limit)) }),
      ...(rest.allocation === 'SPLIT' ? { max_winners: winners } : {}),
      quote_revision_policy: policy,
      closes_at: at(SESSION_MILLIS),
      audience: { market_maker_ids: [...SESSION_MAKERS] },
    }));
}

export function priceAt({ tick }: SessionGrid, offset: number): Atoms {
  return (Math.floor(500_000 / tick) + offset) * tick;
}

function onGrid(tick: Atoms, price: Atoms): Atoms {
  return Math.max(tick, Math.min(price, Math.floor(999_999 / tick) * tick));
}

/** A whole auction with every kind of command. Use `play` to get its result. */
export const anySession: fc.Arbitrary<PlannedSession> = fc.constantFrom(...grids).chain((grid) => {
  // Tokens come in any number, on the step or not.
  const inventory = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 9 * grid.step })), {
    minLength: SESSION_ROUTES.length,
    maxLength: SESSION_ROUTES.length,
  });
  return fc.record({
    grid: fc.constant(grid),
    create: anyCreate(grid),
    inventory,
    inventories: fc.array(inventory, { minLength: SESSION_MAKERS.length, maxLength: SESSION_MAKERS.length }),
    moves: fc.array(anyMove, { maxLength: 20, size: 'max' }),
    reports: fc.array(anyReport, { maxLength: 12, size: 'max' }),
  });
});
