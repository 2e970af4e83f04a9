import { describe, expect, it } from '@jest/globals';
import type { AnsweredCommand } from './load/transcript.js';
import { Roads } from './roads.js';

type What = Partial<Pick<AnsweredCommand, 'status' | 'gateway' | 'shard'>> & {
  operation?: 'CREATE' | 'SUBMIT' | 'WITHDRAW';
};

function answer({ operation = 'CREATE', status = 201, gateway = 0, shard = 0 }: What): AnsweredCommand {
  const command = { operation, account: 'a', auctionId: 'x', key: 'k', content: '' };
  return { command, status, body: '', shard, gateway, endedAt: 0 };
}

/** All that is required, with these differences. */
function roadsWith(different: (one: Required<What>) => What): Roads {
  const roads = new Roads();
  for (const operation of ['CREATE', 'SUBMIT'] as const)
    for (const gateway of [0, 1])
      for (const shard of [0, 1, 2])
        roads.note(answer(different({ operation, status: 201, gateway, shard })));
  return roads;
}

describe('the paths through gateways into shards', () => {
  it('are complete when each gateway has opened an auction and submitted a quote in each shard', () => {
    expect(roadsWith((one) => one).areOpen).toBe(true);
  });

  it('are incomplete while one gateway lacks an action that another one has', () => {
    const roads = roadsWith((one) => (one.gateway === 1 ? { ...one, status: 503 } : one));
    expect(roads.areOpen).toBe(false);
    expect(roads.closed).toContain('gateway-1 opens nothing in shard 2');
    expect(roads.closed).not.toContain('gateway-0');
  });

  it('are incomplete if all commands were only refused', () => {
    const roads = roadsWith((one) =>
      one.operation === 'SUBMIT' && one.shard === 1 ? { ...one, status: 422 } : one,
    );
    expect(roads.closed).toBe('gateway-0 takes no quotes in shard 1, gateway-1 takes no quotes in shard 1');
  });

  it('are not completed by other actions', () => {
    expect(roadsWith((one) => ({ ...one, operation: 'WITHDRAW' })).areOpen).toBe(false);
  });
});
