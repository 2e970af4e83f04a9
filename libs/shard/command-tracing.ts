import type { Span, SpanFacts, Tracing } from '#libs/platform/tracing/tracing.js';

/**
 * The stage of a command. `queue`: it waits for its batch. `journal wait`: it is decided and waits for the append before its own.
 */
type CommandStage = 'queue' | 'reserve' | 'decide' | 'journal wait' | 'journal append' | 'release';

interface TracedCommand {
  /** The span within which the command was submitted. */
  readonly parent: Span;
  stage: Span | undefined;
}

/**
 * Traces commands through the loop, each stage as a span. Commands share reservations and appends, but each gets its own spans
 * for them, so that one trace shows everything about one command.
 */
export class CommandTracing<Command extends object> {
  private readonly commands = new WeakMap<Command, TracedCommand>();

  constructor(private readonly tracing: Tracing) {}

  enter(command: Command): void {
    const parent = this.tracing.current;
    if (parent === undefined) return;
    this.commands.set(command, { parent, stage: this.tracing.child('queue', 'internal', parent) });
  }

  move(command: Command, stage: CommandStage, facts: SpanFacts = {}): void {
    const traced = this.commands.get(command);
    if (traced === undefined) return;
    traced.stage?.end();
    traced.stage = this.tracing.child(stage, 'internal', traced.parent);
    traced.stage?.set(facts);
  }

  moveAll(commands: Iterable<{ readonly task: Command }>, stage: CommandStage, facts?: SpanFacts): void {
    for (const { task } of commands) this.move(task, stage, facts);
  }

  /** The command is about to be answered. */
  leave(command: Command): void {
    this.commands.get(command)?.stage?.end();
    this.commands.delete(command);
  }
}
