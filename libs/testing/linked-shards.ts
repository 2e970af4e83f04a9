import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OwnerLink } from '#libs/owner-link/client.js';
import { LinkServer } from '#libs/owner-link/server.js';
import { listen } from '#libs/platform/internal-server.js';
import { eventually } from './eventually.js';
import { LiveShard, type FixtureOptions } from './shard-fixture.js';
import type { ShardWorld } from './shard-world.js';

const SHARDS = [0, 1, 2];
const TOKEN = 'service-token-of-the-test';

/** The three shards of one world, talking to each other over real links, as owners do. */
export class LinkedShards {
  private readonly silent = new Set<number>();

  private constructor(
    readonly shards: readonly LiveShard[],
    private readonly parts: {
      readonly servers: readonly Server[];
      readonly ends: LinkServer[];
      readonly links: readonly OwnerLink[];
    },
  ) {}

  static async open(world: ShardWorld, options: FixtureOptions = {}): Promise<LinkedShards> {
    const servers = SHARDS.map(() => createServer());
    await Promise.all(servers.map((server) => listen(server, 0, '127.0.0.1')));
    const links: OwnerLink[] = [];
    const linkTo = (shard: number, from: number): OwnerLink => {
      const { port } = servers[shard]?.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}`;
      const link = new OwnerLink({ url, serviceToken: () => TOKEN, peer: `owner-${from}`, clock: world.clock });
      links.push(link);
      return link;
    };
    const shards: LiveShard[] = [];
    for (const shard of SHARDS) {
      const others = SHARDS.filter((other) => other !== shard);
      const peers = new Map(others.map((other) => [other, linkTo(other, shard)]));
      shards.push(await LiveShard.open(world, shard, { ...options, ports: { ...options.ports, peers } }));
    }
    const linked = new LinkedShards(shards, { servers, ends: [], links });
    for (const shard of SHARDS) linked.serve(shard);
    await eventually(() => {
      if (!links.every((link) => link.connected)) throw new Error('not all owners are linked yet');
    });
    return linked;
  }

  shard(number: number): LiveShard {
    const found = this.shards[number];
    if (found === undefined) throw new Error(`there is no shard ${number}`);
    return found;
  }

  /** It takes whatever the other owners say and answers nothing, like a process that is stopped. */
  silence(shard: number): void {
    this.silent.add(shard);
  }

  unsilence(shard: number): void {
    this.silent.delete(shard);
  }

  async close(): Promise<void> {
    for (const link of this.parts.links) link.close();
    for (const end of this.parts.ends) end.cut();
    for (const server of this.parts.servers) server.close();
    for (const shard of this.shards) await shard.stop();
  }

  private serve(number: number): void {
    const end = new LinkServer({
      serviceTokens: () => [TOKEN],
      handle: (request, peer) =>
        this.silent.has(number)
          ? new Promise(() => undefined)
          : this.shard(number).shard.handle(request, peer),
      onFault: () => undefined,
    });
    const server = this.parts.servers[number];
    if (server !== undefined) end.attach(server);
    this.parts.ends.push(end);
  }
}
