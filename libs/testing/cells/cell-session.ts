import { randomUUID } from 'node:crypto';
import { instantFromNanos, plusMillis, type Instant } from '#libs/base/instant.js';
import type { CellSettings } from '#libs/execution/cell/cell-ports.js';
import type { OrderTerms } from '#libs/execution/rules/order.js';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import { createTestDatabase } from '../database/test-database.js';
import { MovableClock } from '../movable-clock.js';
import { LiveCell, Operators, type ReadAnswer, type CellWorld } from './live-cell.js';
import { submission, type WantedTerms } from './orders.js';
import { PlayedExecutor } from './played-executor.js';

export const REQUEST = 'request';

/** One user of one cell with a database of its own, linked to both venues, and an executor that the test plays. */
export class CellSession {
  readonly user_id = randomUUID();
  executor: PlayedExecutor;

  private constructor(
    readonly world: CellWorld,
    public live: LiveCell,
  ) {
    this.executor = new PlayedExecutor(live);
  }

  static async open(settings: Partial<CellSettings> = {}): Promise<CellSession> {
    const database = await createTestDatabase([
      ...[...journalMigrations, ...admissionMigrations, ...custodyMigrations],
    ]);
    const world = { database, clock: new MovableClock(), operators: new Operators() };
    const session = new CellSession(world, await LiveCell.open(world, settings));
    const { live, user_id } = session;
    await live.ask({ op: 'link_account', user_id, venue: 'venue_b', account: 'account-b' });
    await live.ask({ op: 'link_account', user_id, venue: 'venue_e', account: '0xabc' });
    return session;
  }

  async close(): Promise<void> {
    await this.live.stop();
    this.world.clock.forgetTimers();
    await this.world.database.drop();
  }

  /** Kills the process, and lets another take over after a while. */
  async restart(afterMillis = 0): Promise<void> {
    this.live.kill();
    this.world.clock.leap(afterMillis);
    this.live = await LiveCell.open(this.world);
    this.executor = new PlayedExecutor(this.live, 'executor-2');
  }

  in(millis: number): Instant {
    return plusMillis(instantFromNanos(this.world.clock.epochNanos()), millis);
  }

  leap(millis: number): void {
    this.world.clock.leap(millis);
  }

  async submit(different: Partial<WantedTerms> = {}): Promise<string> {
    const { body, code } = await this.live.ask<'submit'>(submission(this.user_id, different));
    if (code !== undefined) throw new Error(code);
    return body.order_id;
  }

  /** The status and code of a refused submit. */
  async refusal(request: ReturnType<typeof submission>): Promise<[number, string | undefined]> {
    const { status, code } = await this.live.ask<'submit'>(request);
    return [status, code];
  }

  async orderOf(order_id: string): Promise<Record<string, unknown>> {
    const { user_id } = this;
    return (await this.live.ask<'order'>({ op: 'order', user_id, request_id: REQUEST, order_id })).body;
  }

  cancel(order_id: string): Promise<ReadAnswer<'cancel'>> {
    return this.live.ask<'cancel'>({ op: 'cancel', user_id: this.user_id, request_id: REQUEST, order_id });
  }

  amend(order_id: string, price: bigint): Promise<ReadAnswer<'amend'>> {
    const { user_id } = this;
    return this.live.ask<'amend'>({ op: 'amend', user_id, request_id: REQUEST, order_id, price });
  }

  async exposure(): Promise<Record<string, unknown>> {
    const { user_id } = this;
    const { body } = await this.live.ask<'exposure'>({
      ...{ op: 'exposure', user_id, request_id: REQUEST, select: {} },
    });
    return body;
  }

  async positions(): Promise<unknown> {
    return (await this.exposure()).positions;
  }

  /** Submits an order whose outcome at the venue stays unknown. */
  async inDoubt(
    different: Partial<WantedTerms> = {},
  ): Promise<{ readonly order_id: string; readonly terms: OrderTerms }> {
    const order_id = await this.submit(different);
    const task = await this.executor.task('submit');
    await this.executor.begin(task.terms);
    await this.executor.report(task, { what: 'doubtful', reason: 'the connection was cut' });
    return { order_id, terms: task.terms };
  }
}
