import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { everything } from '#libs/testing/contracts/journal-subject.js';
import { KeptJournals } from '#libs/testing/kafka/kept-journals.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import type { EpochIncarnation, JournalWriter } from '../journal.js';
import { moveJournals } from '../moving/move-journals.js';
import { RestoredMark } from '../restored/restored-mark.js';
import type { JournalStore, StoreKind } from '../stores/journal-store.js';
import { beginIncarnation, findIncarnation, incarnationIn, OtherDatabase } from './topic-incarnation.js';

jest.setTimeout(60_000);

const SHARDS = [0, 1];
const COPIED = ['journal.home', 'journal.witness', 'journal.sealed'];
const clock = new SystemClock();

/** One database counts as lost, the other is restored from its backup. */
describeWithKafka('topics that two databases claim', { anyBrokers: true }, (kafka) => {
  let lost: KeptJournals;
  let found: KeptJournals;

  beforeEach(async () => {
    lost = await KeptJournals.begin(kafka(), SHARDS);
    found = await lost.besideAnother();
  });
  afterEach(async () => {
    await Promise.all([lost.dispose(), found.dispose()]);
  });

  const storeOf = (journals: KeptJournals, kind: StoreKind = 'kafka'): Promise<JournalStore> =>
    journals.store({ kind });
  const owner = async (journals: KeptJournals, shard = 0): Promise<JournalWriter> =>
    await journals.owner(shard, await storeOf(journals));
  const write = async (journals: KeptJournals, ...shards: readonly number[]): Promise<void> => {
    for (const shard of shards) {
      const writer = await owner(journals, shard);
      await writer.append(['"a"', '"b"']);
      await writer.close();
    }
  };
  /** The steps of `backup -- create` and `-- restore` that concern journals. */
  const restore = async (): Promise<void> => {
    for (const table of COPIED) {
      const { rows } = await lost.database.pool.query<{ row: string }>(
        `select t::text as row from ${table} t`,
      );
      for (const { row } of rows) {
        await found.database.pool.query(`insert into ${table} select ($1::${table}).*`, [row]);
      }
    }
    await RestoredMark.set(found.database.pool, {
      journals: SHARDS.map((shard) => ({ family: 'auction', shard })),
      takenAt: '2026-11-23T00:00:00Z',
    });
    await beginIncarnation(found.database.pool);
  };
  /** The steps of `journal -- accept-restored`. */
  const accept = async (): Promise<void> => {
    const { bareReader } = await storeOf(found);
    const ends = await Promise.all(
      SHARDS.map(async (shard) => {
        const last = (await everything(bareReader, shard)).at(-1)!;
        return { shard, sequence: last.sequence, hash: last.hash };
      }),
    );
    await new RestoredMark(found.database.pool, 'auction').accept(ends);
  };
  const incarnations = async (shard = 0): Promise<EpochIncarnation[]> => {
    const records = await everything((await storeOf(found)).bareReader, shard);
    return records.filter(({ kind }) => kind === 'epoch').map(({ payload }) => incarnationIn(payload));
  };
  const incarnationOf = async (journals: KeptJournals): Promise<string> =>
    (await findIncarnation(journals.database.pool)).id;

  it('belong to the accepted database from its first start on, and the other is refused', async () => {
    await write(lost, ...SHARDS);
    await restore();
    await write(lost, ...SHARDS);
    await accept();
    await write(found, ...SHARDS);
    for (const shard of SHARDS) {
      await expect(owner(lost, shard)).rejects.toBeInstanceOf(OtherDatabase);
      const [before, since] = [await incarnationOf(lost), await incarnationOf(found)];
      expect(await incarnations(shard)).toEqual([
        { life: before },
        { life: before },
        { life: since, follows: before },
      ]);
    }
    await write(found, ...SHARDS);
  });

  it('are not taken if the other continued between the starts of two owners', async () => {
    await write(lost, ...SHARDS);
    await restore();
    await write(found, 0);
    await write(lost, 1);
    await expect(owner(found, 1)).rejects.toBeInstanceOf(OtherDatabase);
    expect(await incarnations(1)).toHaveLength(2);
  });

  it('are not read into a database that was restored by other means and is older than they are', async () => {
    await write(lost, 0);
    const { rows } = await lost.database.pool.query<{ row: string }>(
      'select w::text as row from journal.witness w',
    );
    await write(lost, 0);
    await beginIncarnation(lost.database.pool);
    await expect(
      (async () => {
        await lost.database.pool.query('delete from journal.witness');
        await lost.database.pool.query('insert into journal.witness select ($1::journal.witness).*', [
          rows[0]!.row,
        ]);
        return await owner(lost);
      })(),
    ).rejects.toBeInstanceOf(OtherDatabase);
  });

  it('may be left for PostgreSQL, and only their own database may return to them', async () => {
    await write(lost, ...SHARDS);
    const move = {
      family: 'auction' as const,
      databaseUrl: lost.database.url,
      clock,
      shards: SHARDS,
      opener: 'mover',
    };
    await lost.close();
    for (const [from, to] of [
      ['kafka', 'postgres'],
      ['postgres', 'kafka'],
    ] as const) {
      await moveJournals({
        ...move,
        from: await storeOf(lost, from),
        to: await storeOf(lost, to),
      });
    }
    await write(lost, ...SHARDS);
    await lost.close();
    await restore();
    await write(found, ...SHARDS);
    const away = { ...move, from: await storeOf(lost), to: await storeOf(lost, 'postgres') };
    await expect(moveJournals(away)).rejects.toBeInstanceOf(OtherDatabase);
  });
});
