import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readPreferences, type OwnerLink, type OwnerRequest } from '#libs/auction/protocol/protocol.js';
import { LinkClient } from '#libs/link/link-client.js';
import { LinkServer } from '#libs/link/link-server.js';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import { eventually } from '../eventually.js';
import { LiveShard, type FixtureOptions } from './shard-fixture.js';
import type { ShardWorld } from './shard-world.js';

const SHARDS = [0, 1, 2];
const TOKEN = 'service-token-of-the-test';

interface LinkEnds {
  readonly servers: readonly Server[];
  readonly ends: readonly LinkServer<OwnerRequest>[];
  readonly links: readonly OwnerLink[];
}

/** The three shards of one world, connected by real links like owners. */
export class LinkedShards {
  private constructor(
    private readonly shards: readonly LiveShard[],
    private readonly silent: Set<number>,
    private readonly parts: LinkEnds,
  ) {}

  static async open(world: ShardWorld, options: FixtureOptions = {}): Promise<LinkedShards> {
    const shards: LiveShard[] = [];
    const silent = new Set<number>();
    const servers = SHARDS.map(() => createServer());
    const ends = servers.map((server, number) => {
      const end = new LinkServer<OwnerRequest>({
        serviceTokens: () => [TOKEN],
        handle: (request, peer) => {
          const live = shards[number];
          const isMute = live === undefined || silent.has(number);
          return isMute ? new Promise(() => undefined) : live.shard.handle(request, readPreferences(peer));
        },
        onFault: () => undefined,
        clock: world.clock,
      });
      end.attach(server);
      return end;
    });
    await Promise.all(servers.map((server) => listen(server, 0, '127.0.0.1')));
    const links: OwnerLink[] = [];
    for (const number of SHARDS) {
      const peers = linksOf(number, servers, world);
      links.push(...peers.values());
      shards.push(await LiveShard.open(world, number, { ...options, ports: { ...options.ports, peers } }));
    }
    await eventually(() => {
      if (!links.every((link) => link.connected)) throw new Error('not all owners are linked yet');
    });
    return new LinkedShards(shards, silent, { servers, ends, links });
  }

  shard(number: number): LiveShard {
    const found = this.shards[number];
    if (found === undefined) throw new Error(`there is no shard ${number}`);
    return found;
  }

  /** The shard accepts requests from other owners and never replies, like a suspended process. */
  silence(shard: number): void {
    this.silent.add(shard);
  }

  unsilence(shard: number): void {
    this.silent.delete(shard);
  }

  async close(): Promise<void> {
    const { servers, ends, links } = this.parts;
    for (const link of links) link.close();
    for (const end of ends) end.cut();
    for (const server of servers) server.close();
    for (const shard of this.shards) await shard.stop();
  }
}

/** Links to the other owners, by shard. */
function linksOf(number: number, servers: readonly Server[], { clock }: ShardWorld): Map<number, OwnerLink> {
  const others = SHARDS.filter((other) => other !== number);
  return new Map(
    others.map((other) => {
      const { port } = servers[other]?.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}`;
      return [other, new LinkClient({ url, serviceToken: () => TOKEN, peer: `owner-${number}`, clock })];
    }),
  );
}
