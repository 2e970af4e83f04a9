interface PendingQuestion<Q, A> {
  readonly question: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends questions of one kind to the database in batches. While one batch is in flight, the next one fills. The fixed cost of a
 * statement is larger than that of a question, and no caller waits for more than one other batch.
 */
export class Batcher<Q, A> {
  private pending: PendingQuestion<Q, A>[] = [];
  private isSending = false;

  constructor(
    /** Must reply in the order of the questions. */
    private readonly sendQuestions: (questions: readonly Q[]) => Promise<readonly A[]>,
    private readonly maxBatch: number,
  ) {}

  answer(question: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      this.pending.push({ question, resolve, reject });
      if (!this.isSending) void this.sendAll();
    });
  }

  private async sendAll(): Promise<void> {
    this.isSending = true;
    // Questions of the same turn join the first one.
    await Promise.resolve();
    while (this.pending.length > 0) await this.sendBatch(this.pending.splice(0, this.maxBatch));
    this.isSending = false;
  }

  private async sendBatch(batch: readonly PendingQuestion<Q, A>[]): Promise<void> {
    try {
      const answers = await this.sendQuestions(batch.map(({ question }) => question));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as A);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
