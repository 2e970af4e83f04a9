import { describe, expect, it } from '@jest/globals';
import {
  AuctionStory,
  bareTerms,
  CLOSES_AT,
  makerNamed,
  OPENED_AT,
  ORIGINATOR,
  storyTerms,
} from '#libs/testing/auctions/story.js';
import type { Terms } from '../terms.js';
import { auctionView } from './view.js';
import type { Viewer } from './viewer.js';

const MIA = makerNamed('mia');
const MAX = makerNamed('max');
const MOE = makerNamed('moe');
const MAY = makerNamed('may');

/** Mia and Moe will win, Max will lose, May does nothing. */
function open(different: Partial<Terms> = {}): AuctionStory {
  return new AuctionStory(storyTerms(different))
    .submits('mia', { client_reference: 'note-of-mia' })
    .submits('max', { price_atoms: 600_000 })
    .submits('moe', { price_atoms: 520_001, quantity_atoms: 5_000_000 });
}

function awarded(different: Partial<Terms> = {}): AuctionStory {
  return open(different).awards({ mia: 4_000_000, moe: 2_000_000 });
}

function settled(different: Partial<Terms> = {}): AuctionStory {
  return awarded(different)
    .executes('mia', 'SUBMITTED')
    .executes('mia', 'CONFIRMED')
    .executes('moe', 'FAILED', 'venue down')
    .completes('PARTIALLY_SETTLED');
}

function seen(story: AuctionStory, viewer: Viewer): Record<string, unknown> {
  return { ...auctionView(story.state, viewer) };
}

const HEAD = [
  'auction_id',
  'role',
  'status',
  'phase',
  'view_version',
  'side',
  'quantity_atoms',
  'allocation',
];
const TERMS = ['quote_revision_policy', 'result_disclosure', 'routes'];
const GRID = ['price_tick_atoms', 'min_price_atoms', 'max_price_atoms', 'quantity_step_atoms'];
const OPEN = [...HEAD, 'max_winners', ...TERMS, ...GRID, 'opened_at', 'closes_at'];
const SECRETS = ['limit_price_atoms', 'min_fill_quantity_atoms', 'client_reference', 'identity_policy'];
const OF_ORIGINATOR = [...SECRETS, 'execution_deadline_ms', 'audience'];

describe('the fields of a view and their order', () => {
  it.each<[string, AuctionStory, Viewer, string[]]>([
    ['originator, open', open(), ORIGINATOR, [...OPEN, ...OF_ORIGINATOR]],
    ['maker without a quote, open', open(), MAY, [...OPEN, 'originator']],
    ['maker with a quote, open', open(), MIA, [...OPEN, 'originator', 'my_quote']],
    ['originator, closed', open().closes(), ORIGINATOR, [...OPEN, 'closed_at', ...OF_ORIGINATOR]],
    ['originator, awarded', awarded(), ORIGINATOR, [...OPEN, 'closed_at', ...OF_ORIGINATOR, 'award']],
    ['winner, awarded', awarded(), MIA, [...OPEN, 'closed_at', 'originator', 'my_quote', 'award']],
    ['loser, awarded', awarded(), MAX, [...OPEN, 'closed_at', 'completed_at', 'originator', 'my_quote']],
    ['maker without a quote, awarded', awarded(), MAY, [...OPEN, 'closed_at', 'completed_at', 'originator']],
    [
      'originator, ended',
      settled(),
      ORIGINATOR,
      [...OPEN, 'closed_at', 'completed_at', ...OF_ORIGINATOR, 'award'],
    ],
    [
      'winner, ended',
      settled(),
      MIA,
      [...OPEN, 'closed_at', 'completed_at', 'originator', 'my_quote', 'award'],
    ],
    [
      'originator, cancelled',
      open().cancelled(),
      ORIGINATOR,
      [...OPEN, 'completed_at', ...OF_ORIGINATOR, 'cancellation'],
    ],
    ['maker, cancelled', open().cancelled(), MAY, [...OPEN, 'completed_at', 'originator', 'cancellation']],
  ])('%s', (_case, story, viewer, fields) => {
    expect(Object.keys(seen(story, viewer))).toEqual(fields);
  });

  it('leave out what the originator did not set', () => {
    const bare = bareTerms({ allocation: 'SINGLE_WINNER' });
    expect(Object.keys(seen(new AuctionStory(bare), ORIGINATOR))).toEqual([
      ...OPEN.filter((field) => field !== 'max_winners'),
      ...OF_ORIGINATOR.filter((field) => field !== 'limit_price_atoms' && field !== 'client_reference'),
    ]);
  });

  it('are plain JSON', () => {
    const view = seen(settled(), ORIGINATOR);
    expect(JSON.parse(JSON.stringify(view))).toEqual(view);
    expect(JSON.stringify(view)).not.toContain('null');
  });
});

describe('the table of section 3, row by row', () => {
  it('auction_id and role', () => {
    expect(seen(open(), ORIGINATOR)).toMatchObject({
      auction_id: storyTerms().auction_id,
      role: 'ORIGINATOR',
    });
    expect(seen(open(), MIA)).toMatchObject({ auction_id: storyTerms().auction_id, role: 'MARKET_MAKER' });
  });

  const unawarded = () => open().awardsNobody('MINIMUM_NOT_MET');
  it.each<[string, AuctionStory, Viewer, string, string]>([
    ['open', open(), ORIGINATOR, 'OPEN', 'LIVE'],
    ['open', open(), MIA, 'OPEN', 'LIVE'],
    ['closed', open().closes(), ORIGINATOR, 'CLOSED', 'LIVE'],
    ['closed', open().closes(), MAY, 'CLOSED', 'LIVE'],
    ['awarded', awarded(), ORIGINATOR, 'AWARDED', 'LIVE'],
    ['awarded, winner', awarded(), MIA, 'AWARDED', 'LIVE'],
    ['awarded, loser', awarded(), MAX, 'COMPLETED', 'COMPLETED'],
    ['awarded, maker without a quote', awarded(), MAY, 'COMPLETED', 'COMPLETED'],
    ['executing', awarded().executes('mia', 'SUBMITTED'), ORIGINATOR, 'EXECUTING', 'LIVE'],
    ['executing, its winner', awarded().executes('mia', 'SUBMITTED'), MIA, 'EXECUTING', 'LIVE'],
    ['executing, the other winner', awarded().executes('mia', 'SUBMITTED'), MOE, 'AWARDED', 'LIVE'],
    ['executing, loser', awarded().executes('mia', 'SUBMITTED'), MAX, 'COMPLETED', 'COMPLETED'],
    ['ended', settled(), ORIGINATOR, 'PARTIALLY_SETTLED', 'COMPLETED'],
    ['ended, settled winner', settled(), MIA, 'SETTLED', 'COMPLETED'],
    ['ended, failed winner', settled(), MOE, 'EXECUTION_FAILED', 'COMPLETED'],
    ['ended, loser', settled(), MAX, 'COMPLETED', 'COMPLETED'],
    ['no award', unawarded(), ORIGINATOR, 'NO_AWARD', 'COMPLETED'],
    ['no award, quote at the close', unawarded(), MIA, 'NO_AWARD', 'COMPLETED'],
    ['no award, maker without a quote', unawarded(), MAY, 'COMPLETED', 'COMPLETED'],
    [
      'no award, withdrawn quote',
      open().withdraws('mia').awardsNobody('NO_QUOTES'),
      MIA,
      'COMPLETED',
      'COMPLETED',
    ],
    ['cancelled', open().cancelled(), ORIGINATOR, 'CANCELLED', 'COMPLETED'],
    ['cancelled', open().cancelled(), MIA, 'CANCELLED', 'COMPLETED'],
    ['voided', open().cancelled('OPERATOR'), MAY, 'VOIDED', 'COMPLETED'],
  ])('status and phase: %s', (_case, story, viewer, status, phase) => {
    expect(seen(story, viewer)).toMatchObject({ status, phase });
  });

  it('view_version: a competing quote never changes it', () => {
    const before = new AuctionStory();
    for (const viewer of [ORIGINATOR, MAY]) {
      expect(seen(open(), viewer).view_version).toBe(seen(before, viewer).view_version);
    }
    expect(seen(open(), MIA).view_version).toBe(3);
  });

  it.each([ORIGINATOR, MIA])('terms, routes and grid: %j', (viewer) => {
    const { side, quantity_atoms, allocation, max_winners, routes, grid } = storyTerms();
    const common = { side, quantity_atoms, allocation, max_winners, routes, ...grid };
    const policies = { quote_revision_policy: 'FREE', result_disclosure: 'OWN_RESULT' };
    expect(seen(open(), viewer)).toMatchObject({ ...common, ...policies });
  });

  it('opened_at, closes_at, closed_at, completed_at', () => {
    expect(seen(settled(), ORIGINATOR)).toMatchObject({
      opened_at: OPENED_AT,
      closes_at: CLOSES_AT,
      closed_at: CLOSES_AT,
    });
    expect(seen(settled(), ORIGINATOR).completed_at).toBe(settled().events.at(-1)?.event.at);
    expect(seen(settled(), MAX)).toMatchObject({ closed_at: CLOSES_AT, completed_at: CLOSES_AT });
    expect(seen(settled(), MIA).completed_at).toBe(
      awarded().executes('mia', 'SUBMITTED').executes('mia', 'CONFIRMED').events.at(-1)?.event.at,
    );
  });

  it('limit price, minimum fill, reference, identity policy, execution deadline: only for the originator', () => {
    const { limit_price_atoms, min_fill_quantity_atoms, client_reference } = storyTerms();
    const { identity_policy, execution_deadline_ms } = storyTerms();
    const numbers = { limit_price_atoms, min_fill_quantity_atoms, execution_deadline_ms };
    expect(seen(open(), ORIGINATOR)).toMatchObject({ ...numbers, client_reference, identity_policy });
  });

  it('audience', () => {
    const audience = { invited_count: 4, market_maker_ids: ['mia', 'max', 'moe', 'may'] };
    expect(seen(open(), ORIGINATOR)).toMatchObject({ audience });
  });

  const alias = { alias: 'alias-of-olga' };
  const identity = { id: 'olga', display_name: 'olga Ltd' };
  it.each([
    ['ANONYMOUS', alias, alias, alias],
    ['DISCLOSED', identity, identity, identity],
    ['WINNER_ONLY', alias, identity, alias],
  ] as const)('originator: %s', (originator, whileOpen, toWinner, toLoser) => {
    const policy = { identity_policy: { originator, market_makers: 'ANONYMOUS' } } as const;
    expect(seen(open(policy), MIA).originator).toEqual(whileOpen);
    expect(seen(awarded(policy), MIA).originator).toEqual(toWinner);
    expect(seen(awarded(policy), MAX).originator).toEqual(toLoser);
    expect(seen(awarded(policy), MAY).originator).toEqual(toLoser);
  });

  it("my_quote: the maker's latest quote, in any status", () => {
    expect(seen(open(), MIA).my_quote).toMatchObject({ quote_id: 'quote-of-mia', status: 'ACTIVE' });
    expect(seen(open().withdraws('mia'), MIA).my_quote).toMatchObject({ status: 'WITHDRAWN' });
    const again = open().withdraws('mia').submits('mia', { quote_id: 'second-of-mia' });
    expect(seen(again, MIA).my_quote).toMatchObject({ quote_id: 'second-of-mia', status: 'ACTIVE' });
  });

  it.each([
    ['ANONYMOUS', { alias: 'alias-of-mia' }, { alias: 'alias-of-moe' }],
    ['DISCLOSED_AFTER_AWARD', { id: 'mia', display_name: 'mia Ltd' }, { id: 'moe', display_name: 'moe Ltd' }],
  ] as const)('award, originator: makers %s', (market_makers, mia, moe) => {
    const story = awarded({ identity_policy: { originator: 'ANONYMOUS', market_makers } });
    expect(seen(story.executes('moe', 'SUBMITTED'), ORIGINATOR).award).toEqual({
      quantity_atoms: 6_000_000,
      average_price_atoms: 506_667,
      awards: [
        {
          award_id: 'award-of-mia',
          market_maker: mia,
          price_atoms: 500_000,
          quantity_atoms: 4_000_000,
          execution_status: 'PENDING',
        },
        {
          award_id: 'award-of-moe',
          market_maker: moe,
          price_atoms: 520_001,
          quantity_atoms: 2_000_000,
          execution_status: 'SUBMITTED',
        },
      ],
    });
  });

  it('award, winner: its own only', () => {
    expect(seen(settled(), MOE).award).toEqual({
      award_id: 'award-of-moe',
      price_atoms: 520_001,
      quantity_atoms: 2_000_000,
      execution_status: 'FAILED',
    });
  });

  it.each([
    ['ORIGINATOR', 'CANCELLED'],
    ['OPERATOR', 'VOIDED'],
    ['SYSTEM', 'VOIDED'],
  ] as const)('cancellation by %s', (by, status) => {
    const story = open().cancelled(by, 'why');
    const cancelled_at = story.events.at(-1)?.event.at;
    const cancellation = { cancelled_at, cancelled_by: by, reason: 'why' };
    expect(seen(story, ORIGINATOR)).toMatchObject({ status, completed_at: cancelled_at, cancellation });
    expect(seen(story, MIA).cancellation).toEqual({ cancelled_at });
    expect(seen(story, MIA).my_quote).toMatchObject({ status: 'RELEASED' });
  });

  it('a private note is never shown to the other side', () => {
    expect(JSON.stringify(seen(settled(), ORIGINATOR))).not.toContain('note-of-mia');
    expect(JSON.stringify(seen(settled(), MIA))).not.toContain('note-of-olga');
  });
});
