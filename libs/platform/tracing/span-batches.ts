import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { pause, type Cancel, type Clock } from '../time/clock.js';

/** Bounds the memory to some megabytes while the collector is away. */
const MAX_WAITING = 4_096;
const BATCH_SIZE = 512;
const EXPORT_MILLIS = 1_000;

export interface SpanBatchesPorts {
  readonly exporter: SpanExporter;
  readonly clock: Clock;
  /** The time limit of one export, independent of the exporter's own. */
  readonly patienceMillis: number;
  /** Aborts the running export, which then counts as failed. */
  readonly giveUp: () => void;
  /** Called once for each outage of the collector. */
  readonly onFault: (error: Error | undefined) => void;
}

/**
 * Sends spans to the collector in batches, one at a time, with a bounded number in memory. Drops and counts spans that do not fit
 * or cannot be sent, so that no request ever waits for a trace.
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
    if (this.stopped || this.waiting.length >= MAX_WAITING) {
      this.dropped += 1;
      return;
    }
    this.waiting.push(span);
    if (this.exporting !== undefined) return;
    if (this.waiting.length >= BATCH_SIZE) this.export();
    else this.cancel ??= this.ports.clock.after(EXPORT_MILLIS, () => this.export());
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

  /** Sends pending spans for up to `withinMillis`, and drops the others. */
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
    const batch = this.waiting.splice(0, BATCH_SIZE);
    this.exporting = this.send(batch).then((result) => {
      this.exporting = undefined;
      this.countResult(batch.length, result);
      if (this.waiting.length >= BATCH_SIZE) this.export();
      else if (this.waiting.length > 0)
        this.cancel = this.ports.clock.after(EXPORT_MILLIS, () => this.export());
    });
  }

  /** Turns any error of the exporter into a failed export, because it must not crash the process. */
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

  private countResult(count: number, { code, error }: ExportResult): void {
    const failed = code !== ExportResultCode.SUCCESS;
    if (failed) this.dropped += count;
    else this.exported += count;
    if (failed && !this.faulty) this.ports.onFault(error);
    this.faulty = failed;
  }
}
