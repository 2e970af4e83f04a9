import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from, to } from 'pg-copy-streams';

const CHUNK = 65_536;

/** All trades in memory as the text of a COPY, to load into the same table again. */
export class TradesCopy {
  private constructor(
    private readonly client: pg.Client,
    private readonly text: Buffer,
  ) {}

  static async of(client: pg.Client): Promise<TradesCopy> {
    return new TradesCopy(
      client,
      await buffer(client.query(to('copy (select * from data.trades) to stdout'))),
    );
  }

  async copyIn(): Promise<void> {
    const { text } = this;
    const chunks = function* (): Generator<Buffer> {
      for (let at = 0; at < text.length; at += CHUNK) yield text.subarray(at, at + CHUNK);
    };
    await pipeline(Readable.from(chunks()), this.client.query(from('copy data.trades from stdin')));
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}
