import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiAnswer } from '#libs/testing/api-client.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/test-database.js';
import { homeShard } from '#libs/owner-link/routing.js';
import type { Trader } from './trading-floor.js';
import { auctionBody, mustBe, TradingFloor, verdict } from './trading-floor.js';

jest.setTimeout(120_000);

/** A floor of its own for each condition that is brought about by settings. */
class Stage {
  private constructor(
    readonly cluster: OwnedCluster,
    readonly floor: TradingFloor,
    readonly originator: Trader,
    readonly maker: Trader,
  ) {}

  static async open(env: Readonly<Record<string, string>>): Promise<Stage> {
    return Stage.on(await startCluster({ env }));
  }

  private static async on(cluster: OwnedCluster): Promise<Stage> {
    const floor = new TradingFloor(cluster);
    const [originator, maker] = await floor.traders('originator-2', 'maker-1');
    if (originator === undefined || maker === undefined) throw new Error('the demo traders are missing');
    return new Stage(cluster, floor, originator, maker);
  }

  /** The same people with new sessions: those from before a clock was set back lie in its future. */
  async withNewSessions(): Promise<Stage> {
    this.floor.close();
    return Stage.on(this.cluster);
  }

  get body(): ReturnType<typeof auctionBody> {
    return auctionBody(this.floor.contract('venue_a'), [this.maker]);
  }

  create(key?: string): Promise<ApiAnswer<unknown>> {
    return this.originator.create(this.body, key);
  }

  preflight(): Promise<ApiAnswer<unknown>> {
    return this.originator.preflightCreate(this.body);
  }

  /** What a create is told, as soon as that is what it is told. */
  untilCreated(expected: string, withinMs?: number): Promise<void> {
    return eventually(async () => {
      expect(verdict(await this.create())).toBe(expected);
    }, withinMs);
  }

  /** Holds a process as it is, as a machine does that has no time for it. */
  freeze(name: string): () => void {
    const pid = this.cluster.kill(name, 'SIGSTOP');
    return () => process.kill(pid, 'SIGCONT');
  }

  async close(): Promise<void> {
    this.floor.close();
    await this.cluster.stop();
  }
}

/** A key that leads to the shard is found by trying: only the auction id tells where it led. */
async function opensOn(stage: Stage, shard: number): Promise<string> {
  for (;;) {
    const { auction_id: id } = await stage.originator.opens(stage.body);
    if (Number(id[0]) === shard) return id;
    mustBe(200, await stage.originator.cancel(id));
  }
}

describe('processes that stand still', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open({
      LIMITS_FACTOR: '50',
      PROJECTION_MAX_LAG_MS: '1000',
      RISK_EVIDENCE_TTL_MS: '4000',
    });
  });
  afterAll(() => stage.close());

  it('pause creates when the projector is one, and nothing else, until it goes on', async () => {
    const auction = await stage.originator.opens(stage.body);
    const goOn = stage.freeze('projector');
    try {
      // Every owner must have something that is not projected.
      for (let call = 0; call < 12; call += 1) await stage.create();
      await eventually(async () => {
        const answers = await Promise.all(Array.from({ length: 6 }, () => stage.create()));
        for (const answer of answers) expect(verdict(answer)).toBe('503 projection_backlog');
      });
      const quote = await stage.maker.quotes(auction.auction_id, 500_000, 1);
      mustBe(200, await stage.maker.withdraw(quote));
      mustBe(200, await stage.preflight());
      mustBe(200, await stage.originator.cancel(auction.auction_id));
      expect(verdict(await stage.create())).toBe('503 projection_backlog');
    } finally {
      goOn();
    }
    await stage.untilCreated('201');
  });

  it('make the evidence stale when the executor is one, and refuse what rests on it until it goes on', async () => {
    const auction = await stage.originator.opens(stage.body);
    const goOn = stage.freeze('executor');
    const stale = '422 RISK_EVIDENCE_STALE';
    try {
      await stage.untilCreated(stale, 15_000);
      const terms = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
      expect(verdict(await stage.maker.submit(auction.auction_id, terms))).toBe(stale);
      expect(verdict(await stage.preflight())).toBe(stale);
      expect(verdict(await stage.maker.preflightQuote(auction.auction_id, 500_000, 1_000_000))).toBe(stale);
      mustBe(200, await stage.originator.cancel(auction.auction_id));
    } finally {
      goOn();
    }
    await stage.untilCreated('201');
  });
});

describe('a journal without room', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open({ LIMITS_FACTOR: '50', JOURNAL_MIN_FREE_MB: '1000000000' });
  });
  afterAll(() => stage.close());

  it('pauses creates, and leaves an originator without a verdict', async () => {
    for (let call = 0; call < 6; call += 1) {
      expect(verdict(await stage.create())).toBe('503 journal_capacity_unhealthy');
    }
    expect(verdict(await stage.preflight())).toBe('500 internal_error');
  });

  it('is no reason for an owner to call itself unhealthy', async () => {
    for (const shard of [0, 1, 2]) {
      const { health_url: url } = stage.cluster.process(`owner-${shard}`);
      expect((await fetch(url)).status).toBe(200);
      expect((await fetch(url.replace('healthz', 'readyz'))).status).toBe(200);
    }
  });
});

describe('a shard that carries as many auctions as it may', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open({ ACTIVE_AUCTION_LIMIT: '1' });
  });
  afterAll(() => stage.close());

  it('refuses the next one for good, and an originator at home there gets no verdict', async () => {
    const home = homeShard(stage.originator.accountId);
    const auction = await unhurried(() => opensOn(stage, home));
    expect(verdict(await stage.preflight())).toBe('500 internal_error');
    // Some other key leads to the same shard, and is then refused whatever becomes of the first auction.
    const key = await unhurried(() => refusedKey(stage));
    mustBe(200, await stage.originator.cancel(auction));
    await eventually(async () => expect(verdict(await stage.preflight())).toBe('200'));
    expect(verdict(await stage.create(key))).toBe('422 ACTIVE_AUCTION_LIMIT');
  });

  /** The limits of this cluster are those of everybody. */
  async function unhurried<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!String(error).includes('429')) throw error;
        await sleep(600);
      }
    }
  }

  async function refusedKey(from: Stage): Promise<string> {
    for (;;) {
      // A new one each time: after a 429 this begins anew, and an earlier key would only be answered again.
      const key = randomUUID();
      const answer = await from.create(key);
      if (answer.status === 422) return key;
      // From before a 429 sent us back to the first key: it led to another shard and was cancelled then.
      if (answer.status === 200) continue;
      const { auction_id: id } = mustBe(201, answer) as { auction_id: string };
      mustBe(200, await from.originator.cancel(id));
    }
  }
});

const FAKETIME = ['x86_64-linux-gnu', 'aarch64-linux-gnu']
  .map((machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`)
  .find((library) => existsSync(library));

if (FAKETIME === undefined) {
  console.warn('NOT TESTED: without libfaketime no clock can be set wrongly (apt-get install faketime)');
} else {
  describe("an owner's clock that somebody sets", () => testsOfAWrongClock(FAKETIME));
}

function testsOfAWrongClock(library: string): void {
  const AHEAD_S = 20;
  let folder: string;
  let database: TestDatabase;
  let stage: Stage;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sotto-faketime-'));
    setClock('+0');
    // A database that the clocks of the cluster have nothing to do with.
    database = await createTestDatabase();
    stage = await Stage.open({
      LIMITS_FACTOR: '50',
      DATABASE_URL: database.url,
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: path.join(folder, 'offset'),
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    });
  });
  afterAll(async () => {
    await stage.close();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  function setClock(offset: string): void {
    writeFileSync(path.join(folder, 'offset'), `${offset}\n`);
  }

  it.each([`+${AHEAD_S}`, `-${AHEAD_S}`])(
    'takes no creates and no quotes, closes nothing and still lets makers out, until it is right again (%s s)',
    async (offset) => {
      const body = { ...stage.body, duration_ms: 12_000 };
      const auction = await stage.originator.opens(body);
      const quote = await stage.maker.quotes(auction.auction_id, 500_000, 1);
      setClock(offset);
      try {
        if (offset.startsWith('-')) stage = await stage.withNewSessions();
        const unhealthy = '503 clock_unhealthy';
        for (let call = 0; call < 3; call += 1) expect(verdict(await stage.create())).toBe(unhealthy);
        const revision = await stage.maker.revise(quote, { price_atoms: 490_000 });
        expect(verdict(revision)).toBe(unhealthy);
        expect(verdict(await stage.preflight())).toBe('500 internal_error');
        // Long enough for every watch to have looked.
        await sleep(2_500);
        expect(verdict(await stage.create())).toBe(unhealthy);
        expect((await stage.originator.view(auction.auction_id)).status).toBe('OPEN');
        const withdrawn = mustBe(200, await stage.maker.withdraw(quote));
        // Dated by the time that was trusted last.
        expect(Math.abs(Date.parse(withdrawn.updated_at) - Date.now())).toBeLessThan(2_000);
      } finally {
        setClock('+0');
      }
      await stage.untilCreated('201');
      const ended = await stage.originator.until(auction.auction_id, 'NO_AWARD');
      expect(ended.closed_at).toBe(auction.closes_at);
    },
  );
}
