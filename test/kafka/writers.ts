import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from '@jest/globals';
import type { JournalEntry } from '#libs/journal/journal.js';
import { eventually } from '#libs/testing/eventually.js';
import type { TestKafka } from '#libs/testing/kafka/test-kafka.js';

const PATIENCE_MS = 90_000;

type Line =
  | { readonly opened: number }
  | { readonly written: readonly string[] }
  | { readonly ended: string; readonly message: string; readonly payloads: readonly string[] };

export interface WriterPace {
  readonly records: number;
  readonly pauseMillis: number;
}

/** A writer in its own process, and its output. */
export class WriterProcess {
  readonly written: string[] = [];
  epoch: number | undefined;
  end: { readonly name: string; readonly message: string; readonly payloads: readonly string[] } | undefined;
  private readonly gone: Promise<unknown>;

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
  ) {
    this.gone = once(child, 'exit');
    if (child.stdout !== null) createInterface(child.stdout).on('line', (line) => this.hear(line));
  }

  static start(kafka: TestKafka, shard: number, name: string, pace: WriterPace): WriterProcess {
    const script = path.resolve('test/kafka/writer-process.mjs');
    const args = [kafka.addresses.join(','), kafka.prefix, shard, name, pace.records, pace.pauseMillis];
    const child = spawn(process.execPath, [script, ...args.map(String)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return new WriterProcess(name, child);
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Until it has written this many more batches. */
  async untilWritten(batches: number): Promise<void> {
    const { length } = this.written;
    const size = (): number => this.written.length - length;
    await eventually(() => {
      expect(this.end).toBeUndefined();
      expect(size()).toBeGreaterThanOrEqual(batches);
    }, PATIENCE_MS);
  }

  async untilEnded(): Promise<void> {
    await eventually(() => expect(this.end).toBeDefined(), PATIENCE_MS);
    await this.gone;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGCONT');
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null && this.child.signalCode === null) await this.gone;
  }

  private hear(text: string): void {
    const line = JSON.parse(text) as Line;
    if ('opened' in line) this.epoch = line.opened;
    else if ('written' in line) this.written.push(...line.written);
    else this.end = { name: line.ended, message: line.message, payloads: line.payloads };
  }
}

/**
 * Everything acknowledged is there once and in order; everything refused is not. Other records were in doubt,
 * or their writer was killed before it could report them.
 */
export function expectTruth(entries: readonly JournalEntry[], writers: readonly WriterProcess[]): void {
  const payloads = entries.filter(({ kind }) => kind === 'event').map(({ payload }) => payload);
  expect(new Set(payloads).size).toBe(payloads.length);
  for (const { name, written, end } of writers) {
    const own = payloads.filter((payload) => payload.startsWith(`"${name}-`));
    expect(own.slice(0, written.length)).toEqual(written);
    const more = own.slice(written.length);
    if (end !== undefined)
      expect(more).toEqual(end.name === 'JournalAmbiguous' && more.length > 0 ? end.payloads : []);
  }
}
