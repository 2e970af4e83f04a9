import { describe, expect, it } from '@jest/globals';
import type { AudienceRequest } from '../../rules/commands.js';
import { MAX_AUDIENCE, resolveAudience } from './audience.js';
import type { PolicySnapshot, TradingPrincipal } from './policy-snapshot.js';
import { contract, policyOf, principal } from './snapshot.fixture.js';

const ROUTES = [contract('venue_a'), contract('venue_b')];
const ME = 'originator';

function policy(more: readonly TradingPrincipal[] = [], me: Partial<TradingPrincipal> = {}): PolicySnapshot {
  const group = { group_id: 'g1', owner: ME, name: 'friends', market_maker_ids: ['maker-3', 'maker-1'] };
  const othersGroup = { ...group, group_id: 'g2', owner: 'originator-2' };
  return policyOf(
    [principal(ME, me), principal('maker-1'), principal('maker-2'), principal('maker-3'), ...more],
    { groups: new Map([group, othersGroup].map((each) => [each.group_id, each])) },
  );
}

function resolve(request: AudienceRequest, from = policy()): string | string[] {
  const audience = resolveAudience(from, ME, request, ROUTES, (id) => `alias of ${id}`);
  return audience.ok ? audience.makers.map((maker) => maker.account_id) : audience.error;
}

describe('audience', () => {
  it('invites listed makers, members of groups, or all makers, each once and in a fixed order', () => {
    expect(resolve({ market_maker_ids: ['maker-2', 'maker-1', 'maker-2'] })).toEqual(['maker-1', 'maker-2']);
    expect(resolve({ market_maker_ids: ['maker-1'], group_ids: ['g1'] })).toEqual(['maker-1', 'maker-3']);
    expect(resolve({ all_eligible: true })).toEqual(['maker-1', 'maker-2', 'maker-3']);
    expect(resolve({ all_eligible: true, exclude_market_maker_ids: ['maker-2'] })).toEqual([
      'maker-1',
      'maker-3',
    ]);
  });

  it('shows a party with its display name and its alias for this auction', () => {
    const audience = resolveAudience(
      policy(),
      ME,
      { market_maker_ids: ['maker-2'] },
      ROUTES,
      (id) => `alias of ${id}`,
    );
    expect(audience).toEqual({
      ok: true,
      makers: [{ account_id: 'maker-2', display_name: 'MAKER-2', alias: 'alias of maker-2' }],
    });
  });

  it('refuses ids and groups that the originator cannot know', () => {
    expect(resolve({ market_maker_ids: ['maker-1', 'no-maker'] })).toBe('AUDIENCE_MEMBER_UNKNOWN');
    expect(resolve({ market_maker_ids: [ME] })).toBe('AUDIENCE_MEMBER_UNKNOWN');
    expect(resolve({ all_eligible: true, exclude_market_maker_ids: ['no-maker'] })).toBe(
      'AUDIENCE_MEMBER_UNKNOWN',
    );
    expect(resolve({ group_ids: ['g1', 'gone'] })).toBe('GROUP_UNKNOWN');
    expect(resolve({ group_ids: ['g2'] })).toBe('GROUP_UNKNOWN');
  });

  it('silently leaves out known makers that are not eligible', () => {
    const from = policy(
      [
        principal('maker-4', { suspended: true }),
        principal('maker-5', { venues: new Set(['venue_a']) }),
        principal('maker-6', { control_group: 'house' }),
        principal('maker-7', { control_group: 'elsewhere' }),
      ],
      { control_group: 'house' },
    );
    const listed = ['maker-1', 'maker-4', 'maker-5', 'maker-6', 'maker-7'];
    expect(resolve({ market_maker_ids: listed }, from)).toEqual(['maker-1', 'maker-7']);
    expect(resolve({ all_eligible: true }, from)).toEqual(['maker-1', 'maker-2', 'maker-3', 'maker-7']);
    expect(resolve({ market_maker_ids: ['maker-4'] }, from)).toBe('AUDIENCE_EMPTY');
  });

  it('never invites the originator, even if it is also a maker', () => {
    expect(resolve({ all_eligible: true }, policy([], { is_maker: true }))).not.toContain(ME);
  });

  it('has at least one and at most MAX_AUDIENCE makers', () => {
    const crowd = (size: number): PolicySnapshot =>
      policyOf([principal(ME), ...Array.from({ length: size }, (_, index) => principal(`maker-${index}`))]);
    expect(resolve({ all_eligible: true }, crowd(MAX_AUDIENCE))).toHaveLength(MAX_AUDIENCE);
    expect(resolve({ all_eligible: true }, crowd(MAX_AUDIENCE + 1))).toBe('AUDIENCE_TOO_LARGE');
    expect(resolve({}, crowd(3))).toBe('AUDIENCE_EMPTY');
  });
});
