import { describe, expect, it } from '@jest/globals';
import { anOpenAuction, aQuote, at } from '#libs/testing/auctions/builders.js';
import { cancels, closes, reports, voids, type CommandUnderTest } from '#libs/testing/auctions/commands.js';
import { given, type Past } from '#libs/testing/auctions/given.js';
import { decideCompletion } from './completion.js';
import type { Decided } from './decided.js';

const completion: CommandUnderTest = decideCompletion;

function eventsOf(command: CommandUnderTest, ...history: readonly Past[]): readonly Decided[] {
  const answer = command(given(...history).state);
  if (!('ok' in answer)) return answer;
  return answer.ok ? answer.events : [];
}

describe('an auction whose journal ends just before its completion event', () => {
  const won = [anOpenAuction(), aQuote('mia'), aQuote('max'), closes()];
  const first = reports({ award_id: 'award-of-quote-of-mia', step: 'FAILED', attempt: 1 }, at(70_000));
  const second = reports({ award_id: 'award-of-quote-of-max', step: 'CONFIRMED', attempt: 1 }, at(65_000));

  it.each<[string, CommandUnderTest, readonly Past[]]>([
    ['cancelled', cancels('reason'), [anOpenAuction(), aQuote('mia')]],
    ['voided', voids({ by: 'SYSTEM' }), [anOpenAuction(), aQuote('mia')]],
    ['not awarded', closes(), [anOpenAuction()]],
  ])('gets the missing completion: %s', (_ending, command, history) => {
    const decided = eventsOf(command, ...history);
    const broken = given(...history, ...decided.slice(0, -1));
    expect(broken.state.completed_at).toBeUndefined();
    expect(completion(broken.state)).toEqual(decided.slice(-1));
    expect(completion(broken.and(completion).state)).toEqual([]);
  });

  it('gets the missing completion with the time of its last execution', () => {
    const last = eventsOf(second, ...won, first);
    const broken = given(...won, first, ...last.slice(0, -1));
    broken.when(completion).then([at(70_000), 'AUCTION_COMPLETED', { status: 'PARTIALLY_SETTLED' }]);
  });
});

describe('an auction that is not over gets no completion', () => {
  it.each<[string, readonly Past[]]>([
    ['open', [anOpenAuction(), aQuote('mia')]],
    ['awarded', [anOpenAuction(), aQuote('mia'), closes()]],
  ])('%s', (_status, history) => {
    given(...history)
      .when(completion)
      .then();
  });

  it('closed', () => {
    const closed: Decided = { at: at(60_000), body: { type: 'AUCTION_CLOSED', data: {} } };
    given(anOpenAuction(), closed).when(completion).then();
  });
});
