import type { Span, SpanFacts, Tracing } from '#libs/platform/tracing/tracing.js';
import type { Task } from './task.js';

/** Where a command is: it waits for its turn, and in the end for the append before its own. */
export type Stage = 'queue' | 'reserve' | 'decide' | 'journal wait' | 'journal append' | 'release';

interface Walker {
  /** What the command was handed in for. */
  readonly parent: Span;
  stage: Span | undefined;
}

/**
 * The way of traced commands through the loop, each stage a span. Many commands share a reservation and an append; each has its own
 * span of it, so that one trace tells all about one command.
 */
export class CommandTrail {
  private readonly walkers = new WeakMap<Task, Walker>();

  constructor(private readonly tracing: Tracing) {}

  enter(task: Task): void {
    const parent = this.tracing.current;
    if (parent === undefined) return;
    this.walkers.set(task, { parent, stage: this.tracing.child('queue', 'internal', parent) });
  }

  move(task: Task, stage: Stage, facts: SpanFacts = {}): void {
    const walker = this.walkers.get(task);
    if (walker === undefined) return;
    walker.stage?.end();
    walker.stage = this.tracing.child(stage, 'internal', walker.parent);
    walker.stage?.set(facts);
  }

  moveAll(tasks: Iterable<{ readonly task: Task }>, stage: Stage, facts?: SpanFacts): void {
    for (const { task } of tasks) this.move(task, stage, facts);
  }

  /** Ends where the command is; it may be answered now. */
  leave(task: Task): void {
    this.walkers.get(task)?.stage?.end();
    this.walkers.delete(task);
  }
}
