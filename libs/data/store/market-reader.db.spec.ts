import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IngestWorld } from '#libs/testing/data/ingest-world.js';
import { marketEvent, START } from '#libs/testing/data/streams.js';
import { MarketReader } from './market-reader.js';

describe('markets by their ids', () => {
  let world: IngestWorld;
  let reader: MarketReader;

  beforeAll(async () => {
    world = await IngestWorld.make();
    reader = new MarketReader(world.database.pool);
    const labels = [{ label: 'Yes' }, { label: 'No' }];
    await world.ingestAll('venue_a', [
      [
        { ...marketEvent('venue_a', 'zeta'), event_id: 'e', condition_id: 'alpha', ticker: 'T' },
        { ...marketEvent('venue_a', 'alpha'), event_id: 'e', condition_id: 'both', ticker: 'zeta' },
        { ...marketEvent('venue_a', 'beta'), condition_id: 'both', outcomes: labels },
        { ...marketEvent('venue_a', 'omega'), condition_id: 'beta-shared', outcomes: labels },
        {
          ...marketEvent('venue_a', 'delta'),
          outcomes: [{ label: 'Yes', token_id: 'beta-shared' }, { label: 'No' }],
        },
        {
          ...marketEvent('venue_a', 'gamma'),
          ...{ event_id: 'f', condition_id: 'zeta-no' },
          outcomes: [
            { label: 'Yes', token_id: 'both' },
            { label: 'No', token_id: 'T' },
          ],
        },
        {
          ...marketEvent('venue_a', 'zeta', START + 1),
          ...{ event_id: 'e', condition_id: 'alpha', ticker: 'T' },
          outcomes: [
            { label: 'No', token_id: 'new-no' },
            { label: 'Yes', token_id: 'zeta-yes' },
          ],
        },
      ],
    ]);
    await world.ingestAll('venue_c', [[marketEvent('venue_c', 'zeta')]]);
  });

  afterAll(() => world.end());

  const found = async (id: string, options?: { readonly tickers: true }): Promise<string | undefined> => {
    const market = (await reader.find('venue_a', [id], options)).get(id);
    return market && [market.state.market_id, market.outcomeIndex].join(' ').trim();
  };

  it('prefers a market id to a condition id, a token id and a ticker', async () => {
    await expect(found('alpha')).resolves.toBe('alpha');
    await expect(found('zeta-no')).resolves.toBe('gamma');
    await expect(found('zeta')).resolves.toBe('zeta');
    await expect(found('zeta', { tickers: true })).resolves.toBe('zeta');
    await expect(found('beta-shared')).resolves.toBe('omega');
    await expect(found('T')).resolves.toBe('gamma 1');
    await expect(found('T', { tickers: true })).resolves.toBe('gamma 1');
  });

  it('finds tickers only if asked to', async () => {
    await world.ingestAll('venue_d', [[{ ...marketEvent('venue_d', 'delta'), ticker: 'DLT' }]]);
    expect((await reader.find('venue_d', ['DLT'])).size).toBe(0);
    expect([...(await reader.find('venue_d', ['DLT'], { tickers: true })).keys()]).toEqual(['DLT']);
  });

  it('names the outcome of a token by the index of the first event, also for former tokens', async () => {
    await expect(found('zeta-yes')).resolves.toBe('zeta 0');
    await expect(found('new-no')).resolves.toBe('zeta 1');
  });

  it('picks the first by market id of several that share an id', async () => {
    await expect(found('both')).resolves.toBe('alpha');
  });

  it('finds many at once, each by the id as sent, and nothing for unknown ids', async () => {
    const many = await reader.find('venue_a', ['zeta', 'beta', 'zeta', 'nothing', 'not\0storable', '\ud800']);
    expect([...many.keys()].sort()).toEqual(['beta', 'zeta']);
    expect((await reader.find('venue_b', ['zeta'])).size).toBe(0);
    expect((await reader.find('venue_c', ['zeta'])).get('zeta')?.state.provider).toBe('venue_c');
  });

  it('lists the markets of an event of one provider by market id', async () => {
    const ids = (await reader.ofEvent('venue_a', 'e')).map(({ state }) => state.market_id);
    expect(ids).toEqual(['alpha', 'zeta']);
    await expect(reader.ofEvent('venue_c', 'e')).resolves.toEqual([]);
  });
});
