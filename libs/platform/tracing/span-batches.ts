import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { pause, type Cancel, type Clock } from '../time/clock.js';

/** Some megabytes at most, whatever happens to the collector. */
const MOST_WAITING = 4_096;
const BATCH = 512;
const EVERY_MILLIS = 1_000;

export interface SpanBatchesPorts {
  readonly exporter: SpanExporter;
  readonly clock: Clock;
  /** The limit of one export, whatever the exporter itself does. */
  readonly patienceMillis: number;
  /** Ends the running export, which then counts as failed. */
  readonly giveUp: () => void;
  /** Called once for each outage of the collector. */
  readonly onFault: (error: Error | undefined) => void;
}

/**
 * Sends spans to the collector in batches, one at a time, with a bounded number in memory. Spans that do not fit or cannot be sent
 * are dropped and counted: no request ever waits for a trace.
 */
export class SpanBatches implements SpanProcessor {
  exported = 0;
  dropped = 0;
  private waiting: ReadableSpan[] = [];
  private exporting: Promise<void> | undefined;
  private cancel: Cancel | undefined;
  private faulty = false;
  private stopped = false;

  constructor(private readonly ports: SpanBatchesPorts) {}

  onStart(): void {
    // Only ended spans are sent.
  }

  onEnd(span: ReadableSpan): void {
    if (this.stopped || this.waiting.length >= MOST_WAITING) {
      this.dropped += 1;
      return;
    }
    this.waiting.push(span);
    if (this.exporting !== undefined) return;
    if (this.waiting.length >= BATCH) this.export();
    else this.cancel ??= this.ports.clock.after(EVERY_MILLIS, () => this.export());
  }

  async forceFlush(): Promise<void> {
    while (this.exporting !== undefined || this.waiting.length > 0) {
      if (this.exporting === undefined) this.export();
      await this.exporting;
    }
  }

  shutdown(): Promise<void> {
    return this.ports.exporter.shutdown();
  }

  /** Sends what it can within the time; the rest is lost with the process. */
  async stop(withinMillis: number): Promise<void> {
    await Promise.race([this.forceFlush(), pause(this.ports.clock, withinMillis)]);
    this.stopped = true;
    this.cancel?.();
    this.dropped += this.waiting.length;
    this.waiting = [];
  }

  private export(): void {
    this.cancel?.();
    this.cancel = undefined;
    const batch = this.waiting.splice(0, BATCH);
    this.exporting = this.send(batch).then((result) => {
      this.exporting = undefined;
      this.note(batch.length, result);
      if (this.waiting.length >= BATCH) this.export();
      else if (this.waiting.length > 0)
        this.cancel = this.ports.clock.after(EVERY_MILLIS, () => this.export());
    });
  }

  /** Whatever the exporter does: its fault must not become one of the process. */
  private async send(batch: ReadableSpan[]): Promise<ExportResult> {
    const { clock, exporter, patienceMillis, giveUp } = this.ports;
    const cancel = clock.after(patienceMillis, giveUp);
    try {
      return await new Promise((resolve) => {
        exporter.export(batch, resolve);
      });
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      return { code: ExportResultCode.FAILED, error: cause };
    } finally {
      cancel();
    }
  }

  private note(count: number, { code, error }: ExportResult): void {
    const failed = code !== ExportResultCode.SUCCESS;
    if (failed) this.dropped += count;
    else this.exported += count;
    if (failed && !this.faulty) this.ports.onFault(error);
    this.faulty = failed;
  }
}
