import type { ApiClient } from '#libs/client/api-client.js';
import type { AuctionView } from '#libs/client/wire.js';
import { insist, type Piece } from './furniture.js';

interface Halt {
  readonly halt_id: string;
}

interface Group {
  readonly group_id: string;
}

interface Shard {
  readonly shard: number;
  readonly state: string;
}

/** No shard drains, and one halt stands that hits nobody who is here. */
export class OperatorsOrder implements Piece {
  readonly halts: string[] = [];

  constructor(
    private readonly operator: ApiClient,
    private readonly halt: object,
  ) {}

  /** No halt stands. */
  async end(): Promise<void> {
    for (const id of this.halts) await this.operator.send('DELETE', `/v1/ops/halts/${id}`);
  }

  async putBack(): Promise<void> {
    const { operator } = this;
    const { body } = await operator.get<{ readonly shards: readonly Shard[] }>('/v1/ops/shards');
    for (const { shard, state } of body.shards) {
      if (state === 'DRAINING')
        await insist('a shard', () => operator.post(`/v1/ops/shards/${shard}/resume`, {}));
    }
    const standing = await operator.get<{ readonly halts: readonly Halt[] }>('/v1/ops/halts');
    for (const { halt_id: id } of standing.body.halts) {
      if (!this.halts.includes(id)) await operator.send('DELETE', `/v1/ops/halts/${id}`);
    }
    if (standing.body.halts.some(({ halt_id: id }) => this.halts.includes(id))) return;
    const imposed = await insist('a halt', () => operator.post<Halt>('/v1/ops/halts', this.halt));
    this.halts[0] = imposed.body.halt_id;
  }
}

/** A session that may be ended, and an auction; and auctions that are over. */
export class Spares implements Piece {
  readonly auctions: string[] = [];
  readonly ended: string[] = [];

  constructor(
    private readonly originator: ApiClient,
    private readonly auction: object,
    private readonly session: { readonly is: () => ApiClient; readonly renew: () => Promise<void> },
  ) {}

  async putBack(): Promise<void> {
    const { originator, session } = this;
    const client = session.is();
    const me = await client.get('/v1/me');
    client.close();
    if (me.status !== 200) await session.renew();
    const [id] = this.auctions;
    const there = id === undefined ? undefined : await originator.get<AuctionView>(`/v1/auctions/${id}`);
    if (there?.body.status === 'OPEN') return;
    if (id !== undefined) this.ended[0] = id;
    const opened = await insist('an auction', () =>
      originator.post<AuctionView>('/v1/auctions', this.auction),
    );
    this.auctions[0] = opened.body.auction_id;
  }
}

/** One group, whoever has come to be in it. */
export class OneGroup implements Piece {
  readonly ids: string[] = [];

  constructor(
    private readonly originator: ApiClient,
    private readonly group: object,
  ) {}

  async putBack(): Promise<void> {
    const { originator } = this;
    const { body } = await originator.get<{ readonly groups: readonly Group[] }>('/v1/groups');
    if (body.groups.some(({ group_id: id }) => this.ids.includes(id))) return;
    for (const { group_id: id } of body.groups) await originator.send('DELETE', `/v1/groups/${id}`);
    const made = await insist('a group', () => originator.post<Group>('/v1/groups', this.group));
    this.ids[0] = made.body.group_id;
  }
}

/** A maker has no quote anywhere. */
export class EmptyHands implements Piece {
  constructor(private readonly maker: ApiClient) {}

  async putBack(): Promise<void> {
    await insist('what is there no more', () => this.maker.post('/v1/quotes/withdraw-all', {}));
  }
}
