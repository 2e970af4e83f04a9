interface Waiting<Q, A> {
  readonly question: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends questions of one kind to the database together: while a batch is in flight, the next one collects. A statement's fixed cost
 * outweighs that of a question, and no caller waits longer than one further reply.
 */
export class Batcher<Q, A> {
  private waiting: Waiting<Q, A>[] = [];
  private isAsking = false;

  constructor(
    /** Replies in the order of the questions. */
    private readonly ask: (questions: readonly Q[]) => Promise<readonly A[]>,
    private readonly most: number,
  ) {}

  answer(question: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ question, resolve, reject });
      if (!this.isAsking) void this.askAll();
    });
  }

  private async askAll(): Promise<void> {
    this.isAsking = true;
    // Questions of the same turn join the first one.
    await Promise.resolve();
    while (this.waiting.length > 0) await this.askSome(this.waiting.splice(0, this.most));
    this.isAsking = false;
  }

  private async askSome(some: readonly Waiting<Q, A>[]): Promise<void> {
    try {
      const answers = await this.ask(some.map(({ question }) => question));
      for (const [index, { resolve }] of some.entries()) resolve(answers[index] as A);
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }
}
