interface Turn<T> {
  readonly running: Promise<T>;
  next?: Promise<T>;
}

/**
 * Joins concurrent requests with the same key. Those that arrive during a run share the next run, so no caller gets an answer that
 * began before it asked.
 */
export class NextTurn<T> {
  private readonly turns = new Map<string, Turn<T>>();

  ask(key: string, work: () => Promise<T>): Promise<T> {
    const turn = this.turns.get(key);
    if (turn === undefined) return this.run(key, work);
    turn.next ??= turn.running.then(
      () => this.run(key, work),
      () => this.run(key, work),
    );
    return turn.next;
  }

  private run(key: string, work: () => Promise<T>): Promise<T> {
    const running = work();
    const turn: Turn<T> = { running };
    this.turns.set(key, turn);
    const end = (): void => {
      if (turn.next === undefined) this.turns.delete(key);
    };
    running.then(end, end);
    return running;
  }
}
