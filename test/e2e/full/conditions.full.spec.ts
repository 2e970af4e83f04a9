import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ApiAnswer } from '#libs/client/api-client.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { fakedTime } from '../../faults/machine.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { homeShard, shardOfCreate } from '#libs/auction/protocol/routing.js';
import type { Trader } from '../trading-floor.js';
import { auctionBody, CONTRACT, mustBe, TradingFloor, verdict } from '../trading-floor.js';

jest.setTimeout(120_000);

/** A separate floor for each condition that settings cause. */
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

  /** The same traders with new sessions: after a clock was set back, old sessions lie in its future. */
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

  /** An auction, as soon as its shard accepts one: after a fault each shard recovers separately. */
  async open(): Promise<AuctionJson> {
    return eventually(() => this.originator.opens(this.body));
  }

  /** Waits until creates on every shard get this answer. */
  untilAllCreated(expected: string): Promise<void> {
    return eventually(async () => {
      const answers = await Promise.all(
        [0, 1, 2].map((shard) => this.create(keyFor(this.originator.accountId, shard))),
      );
      expect(answers.map(verdict)).toEqual([expected, expected, expected]);
    }, 20_000);
  }

  /** Stops a process, as an overloaded machine does. */
  freeze(name: string): () => void {
    const pid = this.cluster.kill(name, 'SIGSTOP');
    return () => process.kill(pid, 'SIGCONT');
  }

  async close(): Promise<void> {
    this.floor.close();
    await this.cluster.stop();
  }
}

/** A key that leads the account's create to the shard. */
function keyFor(account: string, shard: number): string {
  for (;;) {
    const key = randomUUID();
    if (shardOfCreate(account, key) === shard) return key;
  }
}

describe('paused processes', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open({
      LIMITS_FACTOR: '50',
      PROJECTION_MAX_LAG_MS: '1000',
      RISK_EVIDENCE_TTL_MS: '4000',
    });
  });
  afterAll(() => stage.close());

  it('pause creates if the projector is one, and nothing else, until it goes on', async () => {
    const auction = await stage.open();
    const goOn = stage.freeze('projector');
    try {
      await stage.untilAllCreated('503 projection_backlog');
      const quote = await eventually(() => stage.maker.quotes(auction.auction_id, 500_000, 1));
      mustBe(200, await stage.maker.withdraw(quote));
      mustBe(200, await stage.preflight());
      mustBe(200, await stage.originator.cancel(auction.auction_id));
      await stage.untilAllCreated('503 projection_backlog');
    } finally {
      goOn();
    }
    await stage.untilAllCreated('201');
  });

  it('make the evidence stale if the settler is one, and refuse what needs it until it goes on', async () => {
    const auction = await stage.open();
    const goOn = stage.freeze('settler');
    const stale = '422 RISK_EVIDENCE_STALE';
    try {
      await stage.untilAllCreated(stale);
      const terms = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
      expect(verdict(await stage.maker.submit(auction.auction_id, terms))).toBe(stale);
      expect(verdict(await stage.preflight())).toBe(stale);
      expect(verdict(await stage.maker.preflightQuote(auction.auction_id, 500_000, 1_000_000))).toBe(stale);
      mustBe(200, await stage.originator.cancel(auction.auction_id));
    } finally {
      goOn();
    }
    await stage.untilAllCreated('201');
  });
});

describe('a journal without room', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open({ LIMITS_FACTOR: '50', JOURNAL_MIN_FREE_MB: '1000000000' });
  });
  afterAll(() => stage.close());

  it('pauses creates, and leaves an originator without a verdict', async () => {
    await stage.untilAllCreated('503 journal_capacity_unhealthy');
    expect(verdict(await stage.preflight())).toBe('500 internal_error');
  });

  it('does not make an owner unhealthy', async () => {
    for (const shard of [0, 1, 2]) {
      const { health_url: url } = stage.cluster.process(`owner-${shard}`);
      expect((await fetch(url)).status).toBe(200);
      expect((await fetch(url.replace('healthz', 'readyz'))).status).toBe(200);
    }
  });
});

describe('a shard with its largest number of auctions', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open({ ACTIVE_AUCTION_LIMIT: '1' });
  });
  afterAll(() => stage.close());

  it('refuses the next one for good, and gives no verdict to an originator whose home it is', async () => {
    const { accountId } = stage.originator;
    const home = homeShard(accountId);
    const auction = mustBe(201, await stage.originator.create(stage.body, keyFor(accountId, home)));
    expect(verdict(await stage.preflight())).toBe('500 internal_error');
    // Refused for good, even after the first auction has gone.
    const key = keyFor(accountId, home);
    expect(verdict(await stage.create(key))).toBe('422 ACTIVE_AUCTION_LIMIT');
    mustBe(200, await stage.originator.cancel(auction.auction_id));
    await eventually(async () => expect(verdict(await stage.preflight())).toBe('200'));
    expect(verdict(await stage.create(key))).toBe('422 ACTIVE_AUCTION_LIMIT');
  });
});

const FAKETIME = fakedTime();

if (FAKETIME === undefined) {
  console.warn('NOT TESTED: without libfaketime no clock can be set wrongly (apt-get install faketime)');
} else {
  describe("an owner's clock that was set wrongly", () => testsOfAWrongClock(FAKETIME));
}

function testsOfAWrongClock(library: string): void {
  const AHEAD_S = 20;
  let folder: string;
  let database: TestDatabase;
  let stage: Stage;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sotto-faketime-'));
    setClock('+0');
    // A database whose clock differs from the cluster's.
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

  /** Each owner has noticed the jump, and has asked the database for the time and found another one. */
  async function everyOwnerHasLooked(): Promise<void> {
    await eventually(async () => {
      for (const shard of [0, 1, 2]) {
        const metrics = await (await fetch(stage.cluster.process(`owner-${shard}`).metrics_url)).text();
        const [, offset] = /^sotto_clock_offset_seconds\S* (\S+)$/m.exec(metrics) ?? [];
        expect(Math.abs(Number(offset))).toBeGreaterThan(AHEAD_S / 2);
      }
    });
  }

  it.each([`+${AHEAD_S}`, `-${AHEAD_S}`])(
    'refuses creates and quotes, closes nothing and still lets makers withdraw, until it is right again (%s s)',
    async (offset) => {
      const body = { ...stage.body, duration_ms: 12_000 };
      const auction = await stage.originator.opens(body);
      const quote = await stage.maker.quotes(auction.auction_id, 500_000, 1);
      setClock(offset);
      try {
        if (offset.startsWith('-')) stage = await stage.withNewSessions();
        const unhealthy = '503 clock_unhealthy';
        expect(verdict(await stage.create())).toBe(unhealthy);
        const revision = await stage.maker.revise(quote, { price_atoms: 490_000 });
        expect(verdict(revision)).toBe(unhealthy);
        const terms = { price_atoms: 500_000, quantity_atoms: CONTRACT };
        expect(verdict(await stage.maker.submit(auction.auction_id, terms))).toBe(unhealthy);
        expect(verdict(await stage.preflight())).toBe('500 internal_error');
        await everyOwnerHasLooked();
        await stage.untilAllCreated(unhealthy);
        expect((await stage.originator.view(auction.auction_id)).status).toBe('OPEN');
        const withdrawn = mustBe(200, await stage.maker.withdraw(quote));
        // It has the time that was trusted last.
        expect(Math.abs(Date.parse(withdrawn.updated_at) - Date.now())).toBeLessThan((AHEAD_S * 1_000) / 2);
      } finally {
        setClock('+0');
      }
      await stage.untilAllCreated('201');
      await eventually(async () => {
        const { status, closed_at: closedAt } = await stage.originator.view(auction.auction_id);
        expect([status, closedAt]).toEqual(['NO_AWARD', auction.closes_at]);
      }, 30_000);
    },
  );
}
