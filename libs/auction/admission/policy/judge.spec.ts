import { describe, expect, it } from '@jest/globals';
import { judgeCreate, judgeQuote } from './judge.js';
import type { Halt, PolicySnapshot, TradingPrincipal } from './policy-snapshot.js';
import { contract, policyOf, principal } from './snapshot.fixture.js';

const NOW = '2026-11-20T12:00:00.000000000Z';
const LATER = '2026-11-20T12:00:00.000000001Z';
const ROUTES = [contract('venue_a'), contract('venue_b')];
const SIZE = 1_000_000;

function halt(scope: Halt['scope'], target?: string, what: Halt['what'] = ['CREATE', 'QUOTE']): Halt {
  const about = { halt_id: 'h', what, reason: 'drill', by: 'operator', created_at: NOW };
  return target === undefined ? { ...about, scope } : { ...about, scope, target };
}

function withPrincipals(
  more: Partial<TradingPrincipal> = {},
  policy: Partial<PolicySnapshot> = {},
): PolicySnapshot {
  return policyOf([principal('originator', more), principal('maker', more)], policy);
}

function create(policy: PolicySnapshot, account = 'originator', quantity = SIZE): string | undefined {
  return judgeCreate(policy, account, ROUTES, quantity)?.error;
}

function quote(policy: PolicySnapshot, account = 'maker', quantity = SIZE): string | undefined {
  return judgeQuote(policy, account, ROUTES, quantity, NOW)?.error;
}

describe('policy', () => {
  it('lets entitled accounts create and quote up to their size', () => {
    const policy = withPrincipals();
    expect([create(policy), quote(policy)]).toEqual([undefined, undefined]);
    expect(create(policy, 'originator', SIZE + 1)).toBe('UNAUTHORIZED_SIZE');
    expect(quote(policy, 'maker', SIZE + 1)).toBe('UNAUTHORIZED_SIZE');
  });

  it.each<[string, Partial<TradingPrincipal>]>([
    ['PRINCIPAL_SUSPENDED', { suspended: true }],
    ['PRINCIPAL_NOT_ENTITLED', { may_create: false, may_quote: false }],
    ['PRINCIPAL_NOT_ENTITLED', { is_maker: false, is_originator: false }],
    ['PRINCIPAL_NOT_ENTITLED', { venues: new Set(['venue_a']) }],
  ])('answers %s to %j', (code, more) => {
    expect([create(withPrincipals(more)), quote(withPrincipals(more))]).toEqual([code, code]);
  });

  it('refuses unknown accounts, and accounts in the wrong role', () => {
    expect([create(withPrincipals(), 'stranger'), quote(withPrincipals(), 'stranger')]).toEqual([
      'PRINCIPAL_NOT_ENTITLED',
      'PRINCIPAL_NOT_ENTITLED',
    ]);
    expect([create(withPrincipals(), 'maker'), quote(withPrincipals(), 'originator')]).toEqual([
      'PRINCIPAL_NOT_ENTITLED',
      'PRINCIPAL_NOT_ENTITLED',
    ]);
  });

  it.each<[string, Halt]>([
    ['SERVICE_HALTED', halt('GLOBAL')],
    ['VENUE_HALTED', halt('VENUE', 'venue_b')],
    ['MARKET_NOT_TRADABLE', halt('MARKET', 'rain')],
  ])('answers %s while such a halt is in force', (code, halting) => {
    const policy = withPrincipals({}, { halts: [halting] });
    expect([create(policy), quote(policy)]).toEqual([code, code]);
  });

  it('halts one principal as if it were suspended', () => {
    const policy = withPrincipals({}, { halts: [halt('PRINCIPAL', 'maker')] });
    expect([create(policy), quote(policy)]).toEqual([undefined, 'PRINCIPAL_SUSPENDED']);
  });

  it.each([halt('VENUE', 'venue_c'), halt('MARKET', 'snow'), halt('PRINCIPAL', 'other')])(
    'ignores a halt of another target',
    (other) => {
      const policy = withPrincipals({}, { halts: [other] });
      expect([create(policy), quote(policy)]).toEqual([undefined, undefined]);
    },
  );

  it('halts only what the halt names', () => {
    const policy = withPrincipals({}, { halts: [halt('GLOBAL', undefined, ['QUOTE'])] });
    expect([create(policy), quote(policy)]).toEqual([undefined, 'SERVICE_HALTED']);
  });

  it('refuses quotes for a paused market; the rules judge creates', () => {
    const listed = [contract('venue_a'), contract('venue_b', { status: 'PAUSED' })];
    const policy = policyOf([principal('originator'), principal('maker')], { listed });
    expect([create(policy), quote(policy)]).toEqual([undefined, 'MARKET_NOT_TRADABLE']);
  });

  it('freezes a maker whose protection tripped, exactly until the freeze ends', () => {
    const policy = (until: string): PolicySnapshot =>
      withPrincipals({}, { frozen: new Map([['maker', until]]) });
    expect([quote(policy(LATER)), quote(policy(NOW))]).toEqual(['MMP_FROZEN', undefined]);
  });

  it('answers with the widest reason first', () => {
    const frozen = new Map([['maker', LATER]]);
    const all = [halt('MARKET', 'rain'), halt('VENUE', 'venue_a'), halt('GLOBAL')];
    const codes: (string | undefined)[] = [];
    for (let left = all.length; left >= 0; left -= 1) {
      codes.push(quote(withPrincipals({}, { halts: all.slice(0, left), frozen }), 'maker', SIZE + 1));
    }
    expect(codes).toEqual(['SERVICE_HALTED', 'VENUE_HALTED', 'MARKET_NOT_TRADABLE', 'MMP_FROZEN']);
  });
});
