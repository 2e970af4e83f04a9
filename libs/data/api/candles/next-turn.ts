interface Turn<T> {
  readonly running: Promise<T>;
  next?: Promise<T>;
}

/** Of many who ask the same at once, those that come during an answer share the next one: no answer began before it was asked for. */
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
