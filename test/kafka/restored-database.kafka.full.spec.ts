import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { LostDatabase, settle } from './lost-database.js';

jest.setTimeout(120_000);

describeWithKafka('a database that is older than its topics', { anyBrokers: true }, (kafka) => {
  let place: LostDatabase;
  beforeAll(async () => {
    place = await LostDatabase.after(kafka(), (floor) => settle(floor, 'BUY'));
  }, 200_000);
  afterAll(() => place.dispose());

  it('is restored, and not started', async () => {
    await place.restore();
    for (let start = 1; start <= 2; start += 1) {
      const { code, errors, output } = await place.startOn(place.fresh);
      expect(output).not.toContain('processes started');
      expect([code, errors.trim().split('\n')]).toEqual([
        78,
        [expect.stringMatching(/restored from a backup.*shard \d goes up to record \d+, the backup up to/)],
      ]);
    }
    const verdict = await place.run('journal', place.fresh, 'verify');
    expect([verdict.code, verdict.output]).toEqual([
      1,
      expect.stringContaining('is SETTLED in the journal, nothing in the ledger'),
    ]);
  });
});
