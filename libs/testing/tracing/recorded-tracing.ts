import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span, SpanFacts, Tracing } from '#libs/platform/tracing/tracing.js';

export class RecordedSpan implements Span {
  readonly facts: Record<string, unknown> = {};
  ended = false;

  constructor(
    public name: string,
    readonly kind: string,
    readonly traceparent: string,
    /** The name of the parent span, or the traceparent that the span continues. */
    readonly partOf: string | undefined,
  ) {}

  get traceId(): string {
    return this.traceparent.split('-')[1] ?? '';
  }

  rename(name: string): void {
    this.name = name;
  }

  set(facts: SpanFacts): void {
    for (const [name, value] of Object.entries(facts)) if (value !== undefined) this.facts[name] = value;
  }

  end(): void {
    if (this.ended) throw new Error(`${this.name} ends twice`);
    this.ended = true;
  }
}

/** Keeps all spans, in the order in which they began. */
export class RecordedTracing implements Tracing {
  readonly spans: RecordedSpan[] = [];
  /** If false, new traces are not recorded. */
  tracesRoots = true;
  private readonly contexts = new AsyncLocalStorage<RecordedSpan>();

  get current(): RecordedSpan | undefined {
    const span = this.contexts.getStore();
    return span?.ended === false ? span : undefined;
  }

  root(name: string, kind: string): RecordedSpan | undefined {
    return this.tracesRoots ? this.begin(name, kind) : undefined;
  }

  continued(name: string, traceparent: unknown): RecordedSpan | undefined {
    return typeof traceparent === 'string' ? this.begin(name, 'server', traceparent) : undefined;
  }

  child(name: string, kind: string, parent: Span | undefined = this.current): RecordedSpan | undefined {
    return parent instanceof RecordedSpan ? this.begin(name, kind, parent.name) : undefined;
  }

  within<T>(span: Span, work: () => T): T {
    return span instanceof RecordedSpan ? this.contexts.run(span, work) : work();
  }

  /** `name < parent`, and whether the span has not ended. */
  get lines(): string[] {
    return this.spans.map(
      ({ name, partOf, ended }) =>
        `${name}${partOf === undefined ? '' : ` < ${partOf}`}${ended ? '' : ' (open)'}`,
    );
  }

  private begin(name: string, kind: string, partOf?: string): RecordedSpan {
    const digits = String(this.spans.length + 1);
    const traceparent = `00-${digits.padStart(32, '0')}-${digits.padStart(16, '0')}-01`;
    const span = new RecordedSpan(name, kind, traceparent, partOf);
    this.spans.push(span);
    return span;
  }
}
