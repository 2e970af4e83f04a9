import pg from 'pg';
import { ApiClient } from '#libs/client/api-client.js';
import { alternating } from '../alternating.js';
import type { Ground } from '../ground/ground.js';
import { overReserved } from '../ground/over-reserved.js';
import type { BenchFloor } from '../ground/trading-floor.js';
import { closedLoop } from '../load/closed-loop.js';
import { QuoteRing } from '../load/quote-ring.js';
import { overHttp } from '../load/quoting.js';
import { asFastAs, atMost, type RowOutcome, type Row, type Settings } from '../row.js';

const CALLERS = 16;
/** Three seats for each caller, on whichever shards the auctions are. */
const AUCTIONS = 48;
const MAKERS = 1;

/** A maker whose quotes on all shards reserve the same few sums. */
export const oneAccount: Row = {
  name: 'one-account',
  title: 'Quotes of one account from 16 callers over all three shards',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const floor = await ground.floor();
    const auctions = await floor.openAuctions(AUCTIONS, MAKERS, MAKERS);
    const connections = Array.from({ length: CALLERS }, () => floor.http());
    const tokens = floor.makers.slice(0, MAKERS).map(({ token }) => token);
    const ring = new QuoteRing(auctions, `one-${performance.now()}`, overHttp(connections, tokens));
    const before = await transactions(floor);
    const { medians, runs } = await alternating(
      {
        alone: () => closedLoop(1, settings.seconds, () => ring.mutate()),
        together: () => closedLoop(CALLERS, settings.seconds, (caller) => ring.mutate(caller)),
      },
      settings,
    );
    const { aborts, commits } = since(before, await transactions(floor));
    for (const connection of connections) connection.close();
    const client = new pg.Client({ connectionString: floor.cluster.file.database_url });
    await client.connect();
    const over = await overReserved(client);
    await client.end();
    const alone = { name: '1 caller', measured: medians.alone };
    return {
      checks: [
        asFastAs('quotes of 16 callers', '/s', medians.together, alone, { minimum: 4, goal: 8 }),
        atMost('aborts a commit', '', aborts / commits, { minimum: 0.1, goal: 0.1 }),
        atMost('accounts over-reserved', '', over, { minimum: 0, goal: 0 }),
      ],
      details: {
        runs,
        aborts,
        commits,
        shards: shardsOf(auctions),
        refusals: Object.fromEntries(ring.refusals),
      },
    };
  },
};

interface Transactions {
  readonly aborts: number;
  readonly commits: number;
}

/** Transactions for reservations, of all owners since they started. */
async function transactions(floor: BenchFloor): Promise<Transactions> {
  const owners = floor.cluster.file.processes.filter(({ kind }) => kind === 'owner');
  const metrics = await Promise.all(owners.map(({ metrics_url: url }) => figuresOf(url)));
  const sum = (name: string): number =>
    metrics.reduce(
      (all, text) => all + Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(text)?.[1]),
      0,
    );
  return { aborts: sum('sotto_reservation_aborts_total'), commits: sum('sotto_reservation_commits_total') };
}

async function figuresOf(url: string): Promise<string> {
  const api = new ApiClient(url);
  const { text } = await api.get('');
  api.close();
  return text;
}

function since(before: Transactions, now: Transactions): Transactions {
  return { aborts: now.aborts - before.aborts, commits: now.commits - before.commits };
}

/** The number of auctions on each shard. */
function shardsOf(auctions: readonly { readonly id: string }[]): Record<string, number> {
  const shards: Record<string, number> = {};
  for (const { id } of auctions) {
    const shard = id.charAt(0);
    shards[shard] = (shards[shard] ?? 0) + 1;
  }
  return shards;
}
