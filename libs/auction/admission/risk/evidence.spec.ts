import { describe, expect, it } from '@jest/globals';
import { EvidenceInvalid } from './evidence.js';
import { type EvidenceText, readEvidence } from './evidence.js';
import type { ResourceKey } from './resource-key.js';

const COLLATERAL: ResourceKey = { venue: 'venue_a', resource: 'COLLATERAL', asset: '' };
const LIMIT: ResourceKey = { venue: 'venue_a', resource: 'VENUE_POSITION_LIMIT', asset: '' };
const SOUND: EvidenceText = {
  amount: '100',
  settled: '20',
  source_sequence: '3',
  risk_valid_until: '2026-11-20 12:00:00.5',
  authority_valid_until: '2026-11-20 12:00:01',
};

describe('evidence', () => {
  it('is read with times in nanosecond width', () => {
    expect(readEvidence(COLLATERAL, SOUND, 30)).toEqual({
      amount: 100,
      source_sequence: 3,
      risk_valid_until: '2026-11-20T12:00:00.500000000Z',
      authority_valid_until: '2026-11-20T12:00:01.000000000Z',
      reserved: 30,
    });
  });

  it.each<[string, Partial<EvidenceText>]>([
    ['a negative amount', { amount: '-1' }],
    ['an amount beyond the safe integers', { amount: '9007199254740993' }],
    ['sequence 0', { source_sequence: '0' }],
    ['a time that is not finite', { risk_valid_until: 'infinity' }],
    ['an authority without a time', { authority_valid_until: '' }],
    ['a negative settled sum', { settled: '-1' }],
  ])('is invalid with %s', (_fault, wrong) => {
    expect(() => readEvidence(COLLATERAL, { ...SOUND, ...wrong }, 0)).toThrow(EvidenceInvalid);
  });

  it('is invalid when more is reserved than there ever was; a limit may be below the reserved amount', () => {
    expect(readEvidence(COLLATERAL, SOUND, 120).reserved).toBe(120);
    expect(() => readEvidence(COLLATERAL, SOUND, 121)).toThrow(EvidenceInvalid);
    expect(readEvidence(LIMIT, SOUND, 121).reserved).toBe(121);
  });
});
